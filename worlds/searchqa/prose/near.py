"""Finds cities and people near an entity, for filler sentences."""

from __future__ import annotations

from worlds.searchqa.naming import year_of
from worlds.searchqa.values import Entity, World

_HOMES = (
    "citizenship",
    "country",
    "city",
    "author",
    "director",
    "painter",
    "composer",
    "producer",
    "victor",
    "leader",
    "discoverer",
    "presenter",
    "war",
)


class Neighbourhood:
    """Cities of the same country and people of the same culture and time.

    Args:
        world: all entities.
    """

    def __init__(self, world: World) -> None:
        self._cities: dict[Entity, list[Entity]] = {}
        for city in world.of_kind("city"):
            self._cities.setdefault(city.entity("country"), []).append(city)
        self._people: dict[str, list[Entity]] = {}
        for person in world.of_kind("person"):
            self._people.setdefault(person.culture, []).append(person)

    def around(self, entity: Entity) -> dict[str, list[Entity]]:
        """Return the cities and the people near an entity. There may be no people.

        What the entity's own facts link it to is left out, so that no colour contradicts a fact.
        """
        home = self._country(entity)
        linked = [entity, *entity.facts.values()]
        cities = [city for city in self._cities[home] if city not in linked]
        when = year_of(entity)
        if when is not None and entity.kind != "person":
            when -= 35
        people = [
            person
            for person in self._people[home.culture]
            if person not in linked
            and entity not in person.facts.values()
            and (when is None or abs(person.year("birth_date") - when) <= 25)
            and (when is not None or "death_date" in person.facts)
        ]
        return {"city": cities, "person": people}

    def _country(self, entity: Entity) -> Entity:
        while entity.kind != "country":
            homes = [entity.facts[relation] for relation in _HOMES if relation in entity.facts]
            if not homes:
                countries = list(self._cities)
                return countries[entity.number % len(countries)]
            home = homes[0]
            assert isinstance(home, Entity)
            entity = home
        return entity
