"""States of turns whose observations are alike, for worlds where none comes twice to the letter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def similar_states(
    observations: Sequence[str], groups: Sequence[Hashable], *, threshold: float
) -> list[int]:
    """Name the cluster of each observation: GiGPO with similarity (verl-agent, August 2025).

    Each observation joins the first cluster of its group whose first member is as similar to it as
    `threshold` or more, and founds one otherwise. Deviation: similarity is the overlap of words as
    multisets, 2 |a & b| / (|a| + |b|), which takes time in proportion to the texts' lengths, where
    verl-agent aligns characters (difflib's ratio).

    Args:
        observations: what each turn read.
        groups: what names the group of each turn; clusters lie within one.
        threshold: in 0..1; 1 joins texts of the same words only.

    Returns:
        the number of each turn's cluster in its group.
    """
    founders: dict[Hashable, list[Counter[str]]] = {}
    known: dict[tuple[Hashable, str], int] = {}
    for group, text in zip(groups, observations, strict=True):
        if (group, text) in known:
            continue
        words, clusters = Counter(text.split()), founders.setdefault(group, [])
        alike = (n for n, other in enumerate(clusters) if overlap(words, other) >= threshold)
        known[group, text] = number = next(alike, len(clusters))
        if number == len(clusters):
            clusters.append(words)
    return [known[key] for key in zip(groups, observations, strict=True)]


def overlap(words: Counter[str], others: Counter[str]) -> float:
    """Return the share of words that two texts have in common, in 0..1; 1 where both are empty."""
    total = words.total() + others.total()
    return 2 * (words & others).total() / total if total else 1.0
