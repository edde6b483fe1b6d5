"""Searches products that hold every word, in their name or one of their properties."""

from __future__ import annotations

MOST_WORDS = 8
LONGEST_WORD = 40

SEARCHED = (
    "lower(p.name || ' ' || p.brand || ' ' || p.sku || ' ' || p.material || ' ' || p.colour "
    "|| ' ' || c.name)"
)
"""SQL: the text of products p in categories c that is searched."""


def search_terms(text: str) -> list[str]:
    """Return the terms required in a product's text, without plural `s`."""
    words = [word[:LONGEST_WORD] for word in text.lower().replace(",", " ").split()[:MOST_WORDS]]
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]


def matching(text: str) -> tuple[str, list[str]]:
    """Return an SQL condition on products p and categories c, and its values."""
    words = search_terms(text)
    # instr, not LIKE: what people type may hold LIKE's wildcards.
    return " AND ".join([f"instr({SEARCHED}, ?)" for _ in words]) or "0", words
