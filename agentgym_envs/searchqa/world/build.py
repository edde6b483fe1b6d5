"""Builds the world: all entities, their facts, and titles that tell namesakes apart."""

from __future__ import annotations

from agentgym_envs.searchqa.world.dice import Dice
from agentgym_envs.searchqa.world.events import Events
from agentgym_envs.searchqa.world.geography import Maker, make_geography
from agentgym_envs.searchqa.world.institutions import Institutions
from agentgym_envs.searchqa.world.naming import give_titles
from agentgym_envs.searchqa.world.people import make_people
from agentgym_envs.searchqa.world.values import World
from agentgym_envs.searchqa.world.works import Works


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
