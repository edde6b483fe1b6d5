from __future__ import annotations

from agentgym_envs.sites.map.routes import CAR
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.tasks.map import draws
from worlds.tasks.template import World


def test_every_place_is_meant_by_its_label_alone(world: World) -> None:
    dice = Dice(3)
    for _ in range(60):
        place = draws.draw_place(world, dice)
        way = draws.way_between(world, [draws.label(place), _other(place["town"])], CAR)
        assert way.legs[0].text.startswith(f"Leave {place['name']} along ")


def _other(town: str) -> str:
    return TOWNS[0] if town != TOWNS[0] else TOWNS[1]


def test_a_drawn_place_meets_the_condition(world: World) -> None:
    dice = Dice(4)
    for _ in range(20):
        place = draws.draw_place(world, dice, "p.category = 'Cafe' AND t.name = 'Millbrook'")
        assert (place["category"], place["town"]) == ("Cafe", "Millbrook")
