"""Draws the places of a town: names, addresses, hours and facts."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from agentgym_envs.webarena.sites.map import words
from agentgym_envs.webarena.sites.map.categories import (
    BY_NAME,
    CATEGORIES,
    CUISINES,
    OPERATORS,
    Category,
)
from agentgym_envs.webarena.sites.map.facts import Facts, draw_facts, draw_price
from agentgym_envs.webarena.sites.map.geography import TownSite, slug
from agentgym_envs.webarena.sites.map.hours import draw_week
from agentgym_envs.webarena.sites.map.streets import Street

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
    town: TownSite, area: str, streets: list[Street], phones: set[str], dice: random.Random
) -> list[Place]:
    """Return a town's places; `phones` holds the numbers given out so far and grows."""
    names: set[str] = set()
    houses: set[tuple[int, int]] = set()
    return [
        _draw(town, area, streets, BY_NAME[name], names, houses, phones, dice)
        for name in _categories_of(town, dice)
    ]


def _categories_of(town: TownSite, dice: random.Random) -> list[str]:
    size = 0.75 if town.population < 9000 else 1.0 if town.population < 25000 else 1.25
    size = 1.7 if town.population > 70000 else size
    names = []
    for category in CATEGORIES:
        number = round(category.usual * size + dice.uniform(-0.6, 0.6))
        number = max(1, number) if category.usual > 1 or category.from_population else number
        if category.name in ("Railway station", "Airport"):
            number = town.has_railway if category.name == "Railway station" else town.has_airport
        elif category.name in ("Library", "Post office"):
            number = 1
        if town.population >= category.from_population:
            names += [category.name] * number
    return names


def _draw(
    town: TownSite,
    area: str,
    streets: list[Street],
    category: Category,
    names: set[str],
    houses: set[tuple[int, int]],
    phones: set[str],
    dice: random.Random,
) -> Place:
    while True:
        street = min(dice.randrange(len(streets)), dice.randrange(len(streets)))
        house = dice.randrange(1, streets[street].last_house + 1)
        if (street, house) not in houses:
            break
    houses.add((street, house))
    cuisine = dice.choice(CUISINES) if category.name == "Restaurant" else ""
    name = _name(town, category.name, cuisine, streets[street].name, dice)
    while name in names:
        name = _name(town, category.name, cuisine, streets[street].name, dice)
    names.add(name)
    phone = ""
    while not phone or phone in phones:
        phone = f"{area} {dice.randrange(200, 990)} {dice.randrange(1000):03}"
    phones.add(phone)
    stars = dice.choice((2, 3, 3, 4, 4, 5))
    return Place(
        name,
        category.name,
        cuisine,
        street,
        house,
        draw_price(category.name, stars, dice),
        phone,
        _website(name, town, dice),
        dice.choices(("yes", "limited", "no"), (55, 20, 25))[0],
        draw_facts(category.name, stars, dice),
        draw_week(category.hours, dice),
    )


def _name(town: TownSite, category: str, cuisine: str, street: str, dice: random.Random) -> str:
    lists = {
        "given": words.GIVEN,
        "family": words.FAMILIES,
        "colour": words.COLOURS,
        "thing": words.THINGS,
        "saint": words.SAINTS,
        "subject": words.MUSEUM_SUBJECTS,
        "gallery": words.GALLERY_WORDS,
        "operator": OPERATORS,
        "street": (street,),
        "town": (town.name,),
    }
    patterns = words.RESTAURANTS[cuisine] if cuisine else words.NAMES[category]
    return _SLOT.sub(lambda slot: dice.choice(lists[slot.group(1)]), dice.choice(patterns))


def _website(name: str, town: TownSite, dice: random.Random) -> str:
    if dice.random() < 0.2:
        return ""
    plain = re.sub(r"[^a-z]+", "-", name.lower()).strip("-")
    place = slug(town.name)
    return f"www.{plain}.test" if place in plain else f"www.{plain}-{place}.test"
