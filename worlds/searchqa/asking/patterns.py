"""Words for inverse relations, joined clues, kinship and comparisons."""

from __future__ import annotations

from worlds.searchqa.asking.wording import Wording
from worlds.searchqa.tables import table

_TABLE = table("questions/patterns")
Three = tuple[str, str, str]


def _back(noun: str, clause: str, keys: str) -> Wording:
    """Words for the entity that stands in a relation to `{x}`: "the film directed by {x}"."""
    relative, _, predicate = clause.partition(" ")
    first = predicate if relative in ("that", "who") else f"was {clause}"
    return Wording(
        (
            f"Which {noun} {first}?",
            f"What is the name of the {noun} {clause}?",
            f"Can you name the {noun} {clause}?",
        ),
        (f"the {noun} {clause}",),
        keys,
    )


def _join(noun: str, clause: str) -> Three:
    relative = "who" if noun == "person" else "that"
    return (
        f"Which {noun} {clause}?",
        f"What is the name of the {noun} {relative} {clause}?",
        f"Name the {noun} {relative} {clause}.",
    )


BACKWARD: dict[tuple[str, ...], Wording] = {
    tuple(key.split()): _back(**row) for key, row in _TABLE["backward"].items()
}
"""By kind and relation: the one entity of this kind whose relation is `{x}`."""

JOINS: dict[tuple[str, ...], Three] = {
    tuple(key.split()): _join(**row) for key, row in _TABLE["joins"].items()
}
"""By kind and two relations: questions for the entity whose relations are `{a}` and `{b}`."""

KIN: dict[str, tuple[str, str]] = {word: (one, two) for word, (one, two) in _TABLE["kin"].items()}
"""Kinship that has a word of its own, as two relations."""

COMPARISONS: tuple[tuple[str, str, str, str, str], ...] = tuple(map(tuple, _TABLE["comparisons"]))
"""Kind, relation, winning end, and the noun and clause for it: "city", "was founded first"."""

SAMENESS: tuple[tuple[str, str, tuple[str, ...]], ...] = tuple(
    (kind, relation, tuple(asks))
    for key, asks in _TABLE["same"].items()
    for kind, relation in (key.split(),)
)
"""Kind, relation, and yes/no questions."""
