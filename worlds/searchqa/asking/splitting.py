"""Assigns entities to splits, so that no answer of one split is an answer of another."""

from __future__ import annotations

import re

from worlds.dice import stable_number
from worlds.searchqa.values import Entity, Value, World

SHARES = (("test", 24), ("validation", 10), ("train", 66))
"""Percent of the entities whose questions may go to a split."""

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = re.compile(r"[^\w\s]")


def normal_form(text: str) -> str:
    """Return an answer as exact match compares it: no case, punctuation or articles."""
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub("", text.lower())).split())


class Splitting:
    """Gives each entity one split. Entities that share a name share it too.

    Args:
        world: all entities.
    """

    def __init__(self, world: World) -> None:
        parent = list(range(len(world.entities)))

        def root(number: int) -> int:
            while parent[number] != number:
                number = parent[number]
            return number

        first_with: dict[str, int] = {}
        for entity in world.entities:
            for form in map(normal_form, entity.forms):
                other = first_with.setdefault(form, entity.number)
                low, high = sorted((root(other), root(entity.number)))
                parent[high] = low
        self._splits = [_share(root(number)) for number in range(len(parent))]

    def entity_split(self, entity: Entity) -> str:
        """Return the split of an entity."""
        return self._splits[entity.number]

    def value_split(self, value: Value) -> str | None:
        """Return the split of an entity, or None for an answer that many questions share.

        These are dates, numbers, words, countries and continents: a split that had only some of
        them would give them away.
        """
        if not isinstance(value, Entity) or value.kind in ("country", "continent"):
            return None
        return self.entity_split(value)


def _share(key: object) -> str:
    place = stable_number("split", key) % 100
    for split, percent in SHARES:
        place -= percent
        if place < 0:
            return split
    raise AssertionError("the shares of the splits do not make 100 percent")
