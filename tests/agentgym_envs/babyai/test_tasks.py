from __future__ import annotations

import gymnasium as gym
import pytest

from agentgym_envs import UnknownTask
from agentgym_envs.babyai.levels import AGENTGYM_LEVELS, FURTHER_LEVELS, PICKUP_LEVELS, SUBTASKS
from agentgym_envs.babyai.tasks import BabyAITasks

TASKS = BabyAITasks()


def test_an_id_is_level_plus_forty_times_seed():
    assert TASKS.level(41) == ("BabyAI-GoToRedBall-v0", 1)
    assert TASKS.level(3_999_999) == (AGENTGYM_LEVELS[39], 99_999)
    assert TASKS.spec("babyai_41").subtask == "GoTo"


def test_further_levels_are_all_others_that_minigrid_registers_in_alphabetical_order():
    registered = {env_id for env_id in gym.registry if env_id.startswith("BabyAI-")}
    assert list(FURTHER_LEVELS) == sorted(registered - set(AGENTGYM_LEVELS))
    assert TASKS.level(4_000_000 + 3 + 100 * 7) == (FURTHER_LEVELS[3], 7)


@pytest.mark.parametrize(
    "number", [-1, 4_000_000 + len(FURTHER_LEVELS), 4_000_000 + 100 * 100_000, 10**12]
)
def test_ids_that_do_not_exist_are_refused_with_the_allowed_ones(number: int):
    with pytest.raises(UnknownTask, match="level_index"):
        TASKS.spec(number)


def test_train_and_test_are_eighteen_levels_by_fifty_seeds():
    train = [TASKS.level(n) for n in TASKS.numbers("train")]
    test = [TASKS.level(n) for n in TASKS.numbers("test")]
    assert (len(train), len(test)) == (810, 90)
    assert {name for name, _ in train} == {name for name, _ in test} == set(SUBTASKS)
    assert {seed for _, seed in train} == set(range(45))
    assert {seed for _, seed in test} == set(range(45, 50))


def test_the_test_panel_has_the_papers_rows():
    rows = [TASKS.spec(n).subtask for n in TASKS.numbers("test")]
    counts = {row: rows.count(row) for row in rows}
    assert counts == {
        "GoTo": 55,
        "Pickup": 15,
        "ActionObjDoor": 5,
        "FindObjS7": 5,
        "OneRoomS20": 5,
        "SynthLoc": 5,
    }
    assert set(PICKUP_LEVELS) <= set(AGENTGYM_LEVELS)


def test_splits_never_overlap_and_hold_every_level():
    numbers = [n for split in TASKS.splits for n in TASKS.numbers(split)]
    assert len(numbers) == len(set(numbers))
    assert {TASKS.level(n)[0] for n in numbers} == {*AGENTGYM_LEVELS, *FURTHER_LEVELS}
    assert all(TASKS.spec(TASKS.numbers(s)[0]).split == s for s in TASKS.splits)
    assert all(TASKS.numbers(s) == sorted(TASKS.numbers(s)) for s in TASKS.splits)


def test_unlisted_ids_can_be_named_and_say_so():
    spec = TASKS.spec(40 * 777)
    assert (spec.split, spec.subtask) == ("unlisted", "GoTo")


def test_a_filter_takes_subtasks_and_level_names():
    assert len(TASKS.select("test", ["Pickup"])) == 15
    assert len(TASKS.select("test", ["BabyAI-GoToDoor-v0"])) == 5
    with pytest.raises(UnknownTask, match="subtasks or level names.*'OneRoomS20'"):
        TASKS.select("test", ["GoTi"])
