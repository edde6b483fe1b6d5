"""Countries, cities, rivers, mountains and lakes."""

from __future__ import annotations

from dataclasses import dataclass, field

from worlds.dice import Dice
from worlds.searchqa.phonology import CULTURES
from worlds.searchqa.values import Entity, Quantity, Value, count, year
from worlds.searchqa.vocabulary import CITY_INDUSTRIES, CONTINENTS, COUNTRIES

CITIES = 400
RIVERS, MOUNTAINS, LAKES = 120, 105, 60
_PEOPLE = ("inhabitants", "people", "residents")


@dataclass
class Maker:
    """Makes entities with running numbers and keeps account of the names given so far."""

    entities: list[Entity] = field(default_factory=list)
    names: dict[tuple[str, str], int] = field(default_factory=dict)

    def make(self, kind: str, name: str, culture: str = "", **facts: Value) -> Entity:
        """Add an entity."""
        entity = Entity(len(self.entities), kind, name, culture, facts=dict(facts))
        self.entities.append(entity)
        self.names[kind, name] = self.names.get((kind, name), 0) + 1
        return entity

    def taken(self, kind: str, name: str) -> bool:
        """Return whether an entity of this kind bears the name."""
        return (kind, name) in self.names

    def of_kind(self, *kinds: str) -> list[Entity]:
        """List the entities of some kinds made so far."""
        return [entity for kind in kinds for entity in self.entities if entity.kind == kind]


def make_geography(maker: Maker, dice: Dice) -> None:
    """Add the places that nature and settlers made, linked to one another."""
    continents = [maker.make("continent", name) for name in CONTINENTS]
    countries = [_country(maker, dice, row, continents) for row in COUNTRIES]
    mountains = [_mountain(maker, dice, country) for country in _spread(countries, MOUNTAINS)]
    lakes = [_lake(maker, dice, country) for country in _spread(countries, LAKES)]
    rivers = [
        _river(maker, dice, country, mountains, lakes) for country in _spread(countries, RIVERS)
    ]
    cities = [_city(maker, dice, country, rivers) for country in _spread(countries, CITIES)]
    for country in countries:
        _finish_country(country, cities, mountains, rivers)
    for first, second in zip(*[iter(dice.sample(cities, 160))] * 2, strict=True):
        if first.facts["country"] is not second.facts["country"]:
            first.facts["twin_city"] = second
            second.facts["twin_city"] = first


def _spread(countries: list[Entity], count: int) -> list[Entity]:
    return [countries[number % len(countries)] for number in range(count)]


def _country(
    maker: Maker, dice: Dice, row: tuple[str, str, str, str, str], continents: list[Entity]
) -> Entity:
    name, adjective, culture, language, currency = row
    homes = {"Halvic": 0, "Brennic": 0, "Soranese": 1, "Orzhan": 2, "Kethari": 3, "Ishkari": 3}
    country = maker.make(
        "country",
        name,
        culture,
        adjective=adjective,
        continent=continents[homes.get(culture, 4)],
        language=language,
        currency=currency,
        founded_year=year(dice.between(1180, 1560)),
        area=Quantity(dice.between(180, 6200) * 100 + dice.below(100), "square kilometres"),
    )
    return country


def _unused(maker: Maker, dice: Dice, kind: str, culture: str, prefix: str = "") -> str:
    while True:
        name = prefix + CULTURES[culture].place_name(dice)
        if not maker.taken(kind, name):
            return name


def _mountain(maker: Maker, dice: Dice, country: Entity) -> Entity:
    name = _unused(maker, dice, "mountain", country.culture, "Mount ")
    height = Quantity(dice.between(1100, 6900), "metres")
    entity = maker.make("mountain", name, country.culture, country=country, height=height)
    entity.aliases = (name.removeprefix("Mount ") + " Peak",)
    return entity


def _lake(maker: Maker, dice: Dice, country: Entity) -> Entity:
    name = _unused(maker, dice, "lake", country.culture, "Lake ")
    if dice.chance(0.35):
        peaks = [e for e in maker.of_kind("mountain") if e.facts["country"] is country]
        shared = dice.pick(peaks).name.replace("Mount", "Lake") if peaks else name
        name = name if maker.taken("lake", shared) else shared
    return maker.make(
        "lake",
        name,
        country.culture,
        country=country,
        area=Quantity(dice.between(12, 2400), "square kilometres"),
        depth=Quantity(dice.between(14, 640), "metres"),
    )


def _river(
    maker: Maker, dice: Dice, country: Entity, mountains: list[Entity], lakes: list[Entity]
) -> Entity:
    name = _unused(maker, dice, "river", country.culture, "River ")
    at_home = [peak for peak in mountains if peak.facts["country"] is country]
    river = maker.make(
        "river",
        name,
        country.culture,
        country=country,
        length=Quantity(dice.between(48, 1850), "kilometres"),
        source=dice.pick(at_home),
    )
    waters = [lake for lake in lakes if lake.facts["country"] is country]
    if waters:
        river.facts["mouth"] = dice.pick(waters)
    stem = name.removeprefix("River ")
    river.aliases = (f"{stem} River",)
    return river


def _city(maker: Maker, dice: Dice, country: Entity, rivers: list[Entity]) -> Entity:
    streams = [river for river in rivers if river.facts["country"] is country]
    roll = dice.below(100)
    namesakes = [e for e in maker.of_kind("city") if e.facts["country"] is not country]
    if roll < 7 and namesakes:
        name = dice.pick(namesakes).name
    elif roll < 16:
        name = dice.pick(streams).name.removeprefix("River ")
    else:
        name = _unused(maker, dice, "city", country.culture)
    homes = [e for e in maker.of_kind("city") if e.facts["country"] is country]
    if any(home.name == name for home in homes):
        name = _unused(maker, dice, "city", country.culture)
    size = (18, 60, 140, 420)[dice.below(4)]
    city = maker.make(
        "city",
        name,
        country.culture,
        country=country,
        founded_year=year(country.year("founded_year") - dice.between(5, 400)),
        population=count(size * 1000 + dice.below(size * 2000), *_PEOPLE),
        elevation=Quantity(dice.between(3, 890), "metres"),
        industry=dice.pick(CITY_INDUSTRIES),
    )
    if dice.chance(0.75):
        city.facts["river"] = dice.pick(streams)
    return city


def _finish_country(
    country: Entity, cities: list[Entity], mountains: list[Entity], rivers: list[Entity]
) -> None:
    """Set a country's capital, superlatives, and a population that fits its cities."""

    def at_home(entities: list[Entity]) -> list[Entity]:
        return [entity for entity in entities if entity.facts["country"] is country]

    def largest(entities: list[Entity], relation: str) -> Entity:
        return max(at_home(entities), key=lambda entity: _amount(entity, relation))

    country.facts["capital"] = largest(cities, "population")
    country.facts["highest_mountain"] = largest(mountains, "height")
    country.facts["longest_river"] = largest(rivers, "length")
    urban = sum(_amount(city, "population") for city in at_home(cities))
    country.facts["population"] = count(urban * 2 + urban // 3 + 7919, *_PEOPLE)


def _amount(entity: Entity, relation: str) -> int:
    value = entity.facts[relation]
    assert isinstance(value, Quantity)
    return value.amount
