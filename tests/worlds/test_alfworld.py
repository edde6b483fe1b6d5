"""ALFWorld's own tasks are drawn again from the tables that are shipped."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.alfworld.tasks import NUM_AGENTGYM, alfworld_tasks
from worlds.alfworld.make import counted_places, drawn_tasks, scene_of, write

SHIPPED = files("agentgym_envs.alfworld")


def table(name: str) -> Any:
    return json.loads(SHIPPED.joinpath(name).read_text("utf-8"))


def test_our_tasks_are_drawn_again() -> None:
    scenes = {int(number): scene for number, scene in table("scenes.json").items()}
    games = {number: task.game for number, task in alfworld_tasks().games.items()}
    agentgym = [games[number] for number in range(NUM_AGENTGYM)]
    own = {number: game for number, game in games.items() if number >= NUM_AGENTGYM}
    assert dict(drawn_tasks(agentgym, scenes)) == own


def test_a_scene_is_read_from_its_layout(tmp_path: Path) -> None:
    objects = ["CounterTop", "Mug", "Sink", "SinkBasin", "StoveBurner", "Toaster", "Window"]
    places = ["CounterTop|+01|+02|+03", "CounterTop|+04|+05|+06", "Sink|+00|+01|+02|SinkBasin"]
    (tmp_path / "FloorPlan7-objects.json").write_text(json.dumps(objects))
    (tmp_path / "FloorPlan7-openable.json").write_text(json.dumps(dict.fromkeys(places, [0, 0])))
    assert scene_of(tmp_path, 7, table("kinds.json")) == {
        "places": {"countertop": 2, "sinkbasin": 1, "stoveburner": 4, "toaster": 1},
        "things": ["mug"],
    }


PROBLEM = """
(receptacleAtLocation Drawer_bar__plus_01 loc_1) (receptacleAtLocation Drawer_bar__plus_02 loc_1)
(receptacleAtLocation Sink_bar__plus_01_bar_SinkBasin loc_2) (receptacleAtLocation ?r ?l)
(openable Drawer_bar__plus_01) (inReceptacle HousePlant_bar_1 Drawer_bar__plus_02)
(inReceptacle Mug_bar_1 Drawer_bar__plus_02) {door}
"""


def test_places_are_counted_in_the_original_s_games(tmp_path: Path) -> None:
    for trial in range(3):
        folder = tmp_path / "valid_seen" / "pick_and_place_simple-Mug-None-Drawer-305" / str(trial)
        folder.mkdir(parents=True)
        door = "(openable Drawer_bar__plus_02)" if trial == 0 else ""  # most games count
        (folder / "initial_state.pddl").write_text(PROBLEM.format(door=door))
    assert counted_places(tmp_path, frozenset({"drawer"})) == {
        305: {
            "places": {"drawer": 2, "sinkbasin": 1},
            "doorless": ["drawer 1"],
            "standing": {"desklamp": [], "houseplant": ["drawer 1"]},
            "is_counted": True,
        }
    }


@pytest.mark.parametrize("name", ["kinds.json", "scenes.json"])
def test_tables_are_written_as_they_are_shipped(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, table(name))
    assert (tmp_path / name).read_text("utf-8") == SHIPPED.joinpath(name).read_text("utf-8")
