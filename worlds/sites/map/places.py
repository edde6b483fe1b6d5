"""Draws the places of a town: names, addresses, hours and facts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentgym_envs.sites.map.geography import slug
from agentgym_envs.sites.map.hours import ALWAYS
from worlds.dice import Dice
from worlds.sites.map import words
from worlds.sites.map.facts import Facts, draw_facts, draw_price
from worlds.sites.map.geography import TownSite
from worlds.sites.map.kinds import KINDS, Kind
from worlds.sites.map.streets import Street

ATTEMPTS = 60
_SATURDAY, _SUNDAY = 5, 6
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Place:
    """A place of a town.

    Attributes:
        name: unique within its town.
        category: a category's name.
        cuisine: of restaurants, else empty.
        street: index into the town's streets.
        house: its number there.
        price: in cents; None where the category has none.
        phone: such as `031 402 118`.
        website: host name; empty if it has none.
        wheelchair: `"yes"`, `"limited"` or `"no"`.
        facts: further (name, value) pairs.
        week: {day: (opening minute, closing minute)}.
    """

    name: str
    category: str
    cuisine: str
    street: int
    house: int
    price: int | None
    phone: str
    website: str
    wheelchair: str
    facts: Facts
    week: dict[int, tuple[int, int]]


def furnish(
    town: TownSite, area: str, streets: list[Street], phones: set[str], dice: Dice, scale: int
) -> list[Place]:
    """Return a town's places.

    `phones` holds the numbers in use and is extended in place.
    """
    names: set[str] = set()
    houses: set[tuple[int, int]] = set()
    return [
        _draw(town, area, streets, name, names, houses, phones, dice)
        for name in _categories_of(town, dice, scale)
    ]


def _categories_of(town: TownSite, dice: Dice, scale: int) -> list[str]:
    size = 0.75 if town.population < 9000 else 1.0 if town.population < 25000 else 1.25
    size = 1.7 if town.population > 70000 else size
    names = []
    for category, kind in KINDS.items():
        number = round(kind.usual * size * scale + dice.uniform(-0.6, 0.6))
        number = max(1, number) if kind.usual > 1 or kind.from_population else number
        if category in ("Railway station", "Airport"):
            number = town.has_railway if category == "Railway station" else town.has_airport
        elif category in ("Library", "Post office"):
            number = 1
        if town.population >= kind.from_population:
            names += [category] * number
    return names


def _draw(
    town: TownSite,
    area: str,
    streets: list[Street],
    category: str,
    names: set[str],
    houses: set[tuple[int, int]],
    phones: set[str],
    dice: Dice,
) -> Place:
    while True:
        street = min(dice.below(len(streets)), dice.below(len(streets)))
        house = dice.between(1, streets[street].last_house)
        if (street, house) not in houses:
            break
    houses.add((street, house))
    cuisine = dice.pick(tuple(words.RESTAURANTS)) if category == "Restaurant" else ""
    name = _unused_name(town, category, cuisine, streets[street].name, names, dice)
    names.add(name)
    phone = ""
    while not phone or phone in phones:
        phone = f"{area} {dice.between(200, 989)} {dice.below(1000):03}"
    phones.add(phone)
    stars = dice.pick((2, 3, 3, 4, 4, 5))
    return Place(
        name,
        category,
        cuisine,
        street,
        house,
        draw_price(category, stars, dice),
        phone,
        _website(name, town, dice),
        dice.by_weight(("yes", "limited", "no"), (55, 20, 25)),
        draw_facts(category, stars, dice),
        _draw_week(KINDS[category], dice),
    )


def _unused_name(
    town: TownSite, category: str, cuisine: str, street: str, names: set[str], dice: Dice
) -> str:
    for _ in range(ATTEMPTS):
        name = _name(town, category, cuisine, street, dice)
        if name not in names:
            return name
    # A large world has more places of a kind than its word lists have names.
    number = 2
    while f"{name} {number}" in names:
        number += 1
    return f"{name} {number}"


def _name(town: TownSite, category: str, cuisine: str, street: str, dice: Dice) -> str:
    lists = {
        "given": words.GIVEN,
        "family": words.FAMILIES,
        "colour": words.COLOURS,
        "thing": words.THINGS,
        "saint": words.SAINTS,
        "subject": words.MUSEUM_SUBJECTS,
        "gallery": words.GALLERY_WORDS,
        "operator": words.OPERATORS,
        "street": (street,),
        "town": (town.name,),
    }
    patterns = words.RESTAURANTS[cuisine] if cuisine else words.NAMES[category]
    return _SLOT.sub(lambda slot: dice.pick(lists[slot.group(1)]), dice.pick(patterns))


def _website(name: str, town: TownSite, dice: Dice) -> str:
    if dice.chance(0.2):
        return ""
    plain = re.sub(r"[^a-z]+", "-", name.lower()).strip("-")
    place = slug(town.name)
    return f"www.{plain}.test" if place in plain else f"www.{plain}-{place}.test"


def _draw_week(kind: Kind, dice: Dice) -> dict[int, tuple[int, int]]:
    """Return the opening and closing minutes of a week's days, from Monday, 0, on.

    Closed days are left out.
    """
    if dice.chance(kind.always):
        return {day: ALWAYS for day in range(7)}
    opens, closes = round(dice.pick(kind.opens) * 60), round(dice.pick(kind.closes) * 60)
    week = {day: (opens, closes) for day in range(5)}
    if dice.chance(kind.rest_day):
        del week[dice.pick((0, 0, 1, 2))]
    if kind.saturday == "same":
        week[_SATURDAY] = (opens, closes)
    elif kind.saturday == "short":
        week[_SATURDAY] = (opens, dice.pick((13, 14)) * 60)
    if dice.chance(kind.sunday):
        later = opens + dice.pick((0, 60, 120))
        week[_SUNDAY] = (later, max(later + 120, closes - dice.pick((0, 60, 120, 180))))
    return week
