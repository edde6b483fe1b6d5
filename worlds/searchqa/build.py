"""Builds the world: all entities, their facts, and unique titles."""

from __future__ import annotations

from worlds.dice import Dice
from worlds.searchqa.events import Events
from worlds.searchqa.geography import Maker, make_geography
from worlds.searchqa.institutions import Institutions
from worlds.searchqa.naming import give_titles
from worlds.searchqa.people import make_people
from worlds.searchqa.values import World
from worlds.searchqa.works import Works


def build_world(seed: int) -> World:
    """Build the world of a seed."""
    maker = Maker()
    make_geography(maker, Dice(seed, "geography"))
    make_people(maker, Dice(seed, "people"))
    institutions = Institutions(maker, Dice(seed, "institutions"))
    institutions.make_all()
    Works(maker, Dice(seed, "works"), institutions).make_all()
    Events(maker, Dice(seed, "events"), institutions).make_all()
    world = World(maker.entities)
    give_titles(world)
    return world
