from __future__ import annotations

import random

import pytest

from agentgym_envs.webarena.sites.map.routes import CAR, duration, kilometres
from agentgym_envs.webarena.sites.people import TOWNS
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.template import World


@pytest.mark.parametrize("number", [1, 45, 59, 60, 61, 125, 3768])
def test_times_are_read_as_they_are_written(number: int) -> None:
    assert steps.minutes(duration(number)) == number


@pytest.mark.parametrize("number", [1, 9, 10, 843, 10840])
def test_lengths_are_read_as_they_are_written(number: int) -> None:
    assert steps.kilometres(kilometres(number)) == number / 10


def test_every_place_is_meant_by_its_label_alone(world: World) -> None:
    rng = random.Random(3)
    for _ in range(60):
        place = steps.draw_place(world, rng)
        way = steps.way_between(world, [steps.label(place), _other(place["town"])], CAR)
        assert way.legs[0].text.startswith(f"Leave {place['name']} along ")


def _other(town: str) -> str:
    return TOWNS[0] if town != TOWNS[0] else TOWNS[1]


def test_a_drawn_place_meets_the_condition(world: World) -> None:
    rng = random.Random(4)
    for _ in range(20):
        place = steps.draw_place(world, rng, "p.category = 'Cafe' AND t.name = 'Millbrook'")
        assert (place["category"], place["town"]) == ("Cafe", "Millbrook")
