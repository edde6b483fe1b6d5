from __future__ import annotations

import numpy as np
import pytest

from agentgym_envs import ListedTasks, TaskSpec

TASKS = ListedTasks(
    "toy", {"train": {"a": [5, 1], "b": [3]}, "validation": {"a": [2]}, "test": {"b": [10]}}
)


def test_splits_list_their_ids_in_order() -> None:
    assert TASKS.splits == ("train", "validation", "test")
    assert TASKS.task_ids("train") == ["toy_1", "toy_3", "toy_5"]


@pytest.mark.parametrize("task_id", ["toy_3", 3, np.int64(3)])
def test_an_id_and_its_number_name_the_same_task(task_id: str | int) -> None:
    assert TASKS.spec(task_id) == TaskSpec("toy_3", 3, "b", "train")


@pytest.mark.parametrize(
    "task_id", ["toy_4", 4, -3, "toy_-3", "toy_x", "toy_", "toy", "tоy_3", "toy_３", True, None]
)
def test_an_unknown_id_is_refused(task_id: str | int) -> None:
    with pytest.raises(ValueError, match="unknown task_id"):
        TASKS.spec(task_id)


def test_an_endless_number_is_refused_like_any_unknown_id() -> None:
    with pytest.raises(ValueError, match="unknown task_id 'toy_999"):
        TASKS.spec("toy_" + "9" * 10_000)


@pytest.mark.parametrize(
    ("tasks", "numbers"),
    [
        (None, [1, 3, 5]),
        (["a"], [1, 5]),
        ("b", [3]),
        (["a", "b"], [1, 3, 5]),
        (["toy_5"], [5]),
        ([5, "b"], [3, 5]),
        (1, [1]),
    ],
)
def test_a_filter_keeps_subtasks_and_ids(tasks: list[str | int] | None, numbers: list[int]) -> None:
    assert list(TASKS.select("train", tasks)) == numbers


@pytest.mark.parametrize("tasks", [["c"], ["a", "c"], ["toy_10"], []])
def test_a_filter_that_matches_nothing_in_the_split_is_refused(tasks: list[str | int]) -> None:
    with pytest.raises(ValueError, match="match nothing in split 'train'.*'a', 'b'"):
        TASKS.select("train", tasks)
