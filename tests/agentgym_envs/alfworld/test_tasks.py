"""AgentGym's tasks by its ids, and the splits."""

from __future__ import annotations

from collections import Counter

import pytest

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.rules import rules
from agentgym_envs.alfworld.tasks import NUM_AGENTGYM, SUBTASKS, Task, alfworld_tasks

GAMES = alfworld_tasks().games


def test_the_splits_have_agentgym_s_sizes() -> None:
    sizes = {split: len(alfworld_tasks().numbers(split)) for split in alfworld_tasks().splits}
    assert sizes == {"train": 2420, "validation": 100, "test": 200, "unseen": 120}


# Counts of AgentGym's two mappings.
@pytest.mark.parametrize(
    ("split", "counts"),
    [
        ("train", {"Pick": 672, "Clean": 448, "Cool": 394, "Pick2": 389, "Heat": 321, "Look": 196}),
        ("test", {"Pick": 46, "Clean": 37, "Cool": 28, "Pick2": 45, "Heat": 25, "Look": 19}),
    ],
)
def test_the_kinds_of_tasks_are_as_many_as_agentgym_s(split: str, counts: dict[str, int]) -> None:
    assert Counter(GAMES[n].subtask for n in alfworld_tasks().numbers(split)) == counts


def test_numbers_mean_what_they_mean_in_agentgym() -> None:
    first = "look_at_obj_in_light-AlarmClock-None-DeskLamp-301/trial_T20190907_174127_043461"
    assert GAMES[0] == Task(first, "Look", "alarmclock", "desklamp", 301)
    assert GAMES[2420].game == (
        "pick_cool_then_place_in_recep-Mug-None-CoffeeMachine-23/trial_T20190908_143209_571893"
    )
    assert GAMES[2619].game.startswith("pick_two_obj_and_place-RemoteControl-None-Ottoman-210/")


def test_unseen_scenes_are_in_no_other_split() -> None:
    unseen = {GAMES[n].scene for n in alfworld_tasks().numbers("unseen")}
    others = {
        game.scene for n, game in GAMES.items() if alfworld_tasks().describe(n)[1] != "unseen"
    }
    # ALFRED's scenes for unseen validation and unseen test.
    assert unseen == {9, 10, 29, 215, 219, 226, 308, 315, 325, 404, 424, 425}
    assert len(others) == 108 and not unseen & others


def test_no_task_of_ours_has_the_goal_and_scene_of_another() -> None:
    names = [game.game.partition("/")[0] for number, game in GAMES.items()]
    own = names[NUM_AGENTGYM:]
    assert len(set(own)) == len(own) and not set(own) & set(names[:NUM_AGENTGYM])


def test_every_goal_can_be_reached_by_the_tables() -> None:
    table = rules()
    processes = {"Clean": table.cleanable, "Heat": table.heatable, "Cool": table.coolable}
    for game in GAMES.values():
        scene = table.scenes[game.scene]
        assert game.thing in scene.things
        assert game.subtask in SUBTASKS.values()
        if game.subtask == "Look":
            assert game.target in scene.things
        else:
            assert game.target in scene.places and game.thing in table.holds[game.target]
            assert game.thing in processes.get(game.subtask, {game.thing})


# Counts of the original's games (`initial_state.pddl` of `json_2.1.1`).
@pytest.mark.parametrize(
    ("scene", "kind", "count", "doorless"),
    [
        (305, "drawer", 5, 2),
        (308, "drawer", 6, 3),
        (308, "shelf", 6, 0),
        (10, "cabinet", 6, 3),
        (424, "handtowelholder", 2, 0),
        (1, "toaster", 1, 0),
    ],
)
def test_a_scene_has_the_places_of_the_original_s_games(
    scene: int, kind: str, count: int, doorless: int
) -> None:
    table = rules()
    assert table.scenes[scene].is_counted
    assert table.scenes[scene].places[kind] == count
    assert sum(name.split()[0] == kind for name in table.scenes[scene].doorless) == doorless
    number = next(number for number, game in GAMES.items() if game.scene == scene)
    env = ALFWorldEnv()
    env.reset(options={"task_id": number})
    own = [place for place in env.house.places if place.kind == kind]
    closed = count - doorless if kind in table.openable else 0
    assert (len(own), sum(place.is_closed for place in own)) == (count, closed)


def test_thirteen_scenes_are_known_by_their_layouts_alone() -> None:
    guessed = {number for number, scene in rules().scenes.items() if not scene.is_counted}
    assert guessed == {9, 29, 211, 215, 217, 221, 226, 228, 315, 325, 404, 421, 425}


def test_lamps_stand_where_the_original_s_stand() -> None:
    env = ALFWorldEnv()
    number = next(number for number, game in GAMES.items() if game.scene == 323)
    env.reset(options={"task_id": number})
    lamps = {
        place.name for place in env.house.places for t in place.contents if t.kind == "desklamp"
    }
    assert lamps == {"desk 1", "sidetable 2"}


def test_tasks_are_drawn_by_subtask_and_room() -> None:
    env = ALFWorldEnv(tasks=["Heat"], split="test")
    assert {env.reset(seed=seed)[1]["subtask"] for seed in range(5)} == {"Heat"}
    env = ALFWorldEnv(tasks=["bathroom"])
    rooms = {GAMES[int(env.reset(seed=s)[1]["task_id"].split("_")[1])].room for s in range(5)}
    assert rooms == {"bathroom"}


def test_tables_that_were_changed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentgym_envs.alfworld.rules._DIGEST", "0" * 12)
    with pytest.raises(ValueError, match="install the package anew"):
        rules.__wrapped__()
