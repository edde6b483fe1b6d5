from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter

import pytest

from agentgym_envs import UnknownTask
from agentgym_envs.sciworld.tasks import (
    LEFT_OUT,
    NUM_VARIATIONS,
    PAPER_TEST_SIZES,
    SciWorldTasks,
    TaskVariation,
)
from tests.helpers import GOLDEN

GAMES = GOLDEN / "sciworld_games.json"
TASKS = SciWorldTasks()


@pytest.mark.skipif(not GAMES.exists(), reason=f"no golden recordings at {GOLDEN}")
def test_the_first_numbers_are_agentgyms() -> None:
    games = json.loads(GAMES.read_text(encoding="utf-8"))["games"]
    assert len(games) == 4639
    for number, game in enumerate(games):
        assert TASKS.game(number) == (game["taskName"], game["variationIdx"])


def test_the_left_out_tasks_come_after_in_the_simulators_order() -> None:
    rest = [TASKS.game(number) for number in range(4639, 7207)]
    assert rest == [
        TaskVariation(task, v) for task in LEFT_OUT for v in range(NUM_VARIATIONS[task])
    ]
    assert [task for task in NUM_VARIATIONS if task in LEFT_OUT] == list(LEFT_OUT)


def test_the_splits_hold_every_task_once() -> None:
    numbers = [number for split in TASKS.splits for number in TASKS.numbers(split)]
    assert sorted(numbers) == list(range(7207))
    assert [len(TASKS.numbers(split)) for split in TASKS.splits] == [3592, 1796, 1819]


def test_every_split_holds_every_task() -> None:
    for split in TASKS.splits:
        assert {TASKS.game(number).task for number in TASKS.numbers(split)} == set(NUM_VARIATIONS)


def test_paper_test_has_the_papers_sizes_and_is_part_of_test() -> None:
    numbers = TASKS.numbers("paper_test")
    assert set(numbers) <= set(TASKS.numbers("test"))
    assert Counter(TASKS.describe(number)[0] for number in numbers) == PAPER_TEST_SIZES
    assert len(TASKS.task_ids("paper_test")) == 200


def test_paper_test_never_changes() -> None:
    digest = hashlib.sha256(json.dumps(list(TASKS.numbers("paper_test"))).encode()).hexdigest()
    assert digest == "44a30094274b6299f2135f28288a0b76c520afb6dcbd046e030caa2298ed263b"


def test_a_subtask_is_a_row_of_the_papers_table_or_the_tasks_name() -> None:
    assert TASKS.describe(0) == ("boil", "train")
    subtasks = {TASKS.game(number).task: TASKS.describe(number)[0] for number in range(7207)}
    assert subtasks["measure-melting-point-known-substance"] == "Measure"
    assert subtasks["use-thermometer"] == "use-thermometer"
    assert subtasks["find-plant"] == "Find"


def test_a_filter_takes_rows_task_names_and_ids() -> None:
    assert len(TASKS.select("paper_test", ["Chem-Mix"])) == 5
    assert {TASKS.game(n).task for n in TASKS.select("train", ["boil", "melt"])} == {"boil", "melt"}
    assert TASKS.select("train", ["sciworld_3"]) == [3]
    with pytest.raises(UnknownTask, match="subtasks or the simulator's task names.*'boil'"):
        TASKS.select("train", ["boils"])


@pytest.mark.parametrize("number", [-1, 7207])
def test_an_unknown_number_is_an_error(number: int) -> None:
    with pytest.raises(UnknownTask, match="there are 7207 tasks, 'sciworld_0' to 'sciworld_7206'"):
        TASKS.spec(number)


def test_an_unknown_split_is_an_error() -> None:
    with pytest.raises(ValueError, match="allowed: train, validation, test"):
        TASKS.task_ids("dev")


def test_listing_tasks_starts_no_java() -> None:
    program = (
        "import gymnasium as gym, agentgym_envs\n"
        "env = gym.make('agentgym/SciWorld-v0').unwrapped\n"
        "env.task_ids('paper_test')\n"
        "from agentgym_envs.sciworld import jvm\n"
        "print(jvm._shared)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout == "[]\n"
