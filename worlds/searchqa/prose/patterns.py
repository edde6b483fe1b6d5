"""The sentence patterns of every kind of entity. `telling` explains their fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worlds.searchqa.tables import table

Patterns = tuple[str, ...]
Section = tuple[Patterns, ...]

LEADS: dict[str, Patterns] = {}
"""First sentences, by kind."""
PLANS: dict[str, tuple[Section, ...]] = {}
"""Documents' plans, by kind: sections of slots, each filled by one of its patterns."""
FILLERS: dict[str, Patterns] = {}
"""Sentences that state no fact, by kind."""
ASIDES: dict[str, Patterns] = {}
"""Sentences about an entity that another's document mentions, by its kind."""
LINKS: dict[tuple[str, ...], Patterns] = {}
"""Sentences about links to an entity.

The keys are its kind, or `*`, the relation, and in some cases the kind of the other.
"""


def _expanded(patterns: Iterable[str], shared: dict[str, Any]) -> Patterns:
    """Return patterns with those that a name such as `@founded` stands for in its place."""
    expanded: list[str] = []
    for pattern in patterns:
        expanded.extend(shared[pattern[1:]] if pattern.startswith("@") else [pattern])
    return tuple(expanded)


def _read(name: str) -> None:
    content = dict(table(f"prose/{name}"))
    shared = content.pop("shared", {})
    shared = {key: _expanded(patterns, shared) for key, patterns in shared.items()}
    for key, patterns in content.pop("links").items():
        LINKS[tuple(key.split())] = tuple(patterns)
    for kind, parts in content.items():
        LEADS[kind] = tuple(parts["lead"])
        PLANS[kind] = tuple(
            tuple(_expanded(slot, shared) for slot in section) for section in parts["plan"]
        )
        FILLERS[kind] = _expanded(parts["fillers"], shared)
        ASIDES[kind] = tuple(parts.get("asides", ()))


for _name in ("people", "places", "organisations", "works"):
    _read(_name)
