"""Finds an entity's misleading neighbours: namesakes, family, similar places and titles."""

from __future__ import annotations

from worlds.searchqa.naming import PLACES_IN_COUNTRY, WORKS
from worlds.searchqa.values import Entity, World

_PLACE_WORDS = ("River ", "Mount ", "Lake ")


class Rivals:
    """Near-duplicates of every entity.

    Args:
        world: all entities.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._by_key: dict[str, list[Entity]] = {}
        for entity in world.entities:
            for key in _keys(entity):
                self._by_key.setdefault(key, []).append(entity)

    def of(self, entity: Entity) -> list[Entity]:
        """List the others that share the name, the surname, the stem or all but a title's word."""
        rivals = dict.fromkeys(self.world.namesakes(entity))
        for key in _keys(entity):
            rivals.update(dict.fromkeys(self._by_key[key]))
        return [other for other in rivals if other is not entity]


def _keys(entity: Entity) -> list[str]:
    name = entity.name
    if entity.kind == "person":
        first, last = name.split()[0], name.split()[-1]
        return [f"person {first[0]} {last}"]
    if entity.kind in PLACES_IN_COUNTRY:
        for word in _PLACE_WORDS:
            name = name.removeprefix(word)
        return [f"place {name}"]
    if entity.kind in WORKS:
        words = name.split()
        return [
            f"work {' '.join([*words[:place], '_', *words[place + 1 :]])}"
            for place in range(len(words))
            if len(words) > 2
        ]
    return []
