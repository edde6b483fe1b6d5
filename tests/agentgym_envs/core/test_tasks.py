from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("name", ["", "key maze", "1st", "schlüssel", "a/b"])
def test_a_name_that_no_task_id_can_begin_with_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"env_name must be .* got {name!r}"):
        ListedTasks(name, {"train": {"a": [1]}})


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"train": [1, 2]}, r"must be \{split: \{subtask: numbers\}\}.*got \{'train': \[1, 2\]\}"),
        ({"train": {3: [1]}}, r"must be \{split: \{subtask: numbers\}\}"),
        ([("train", {"a": [1]})], r"must be \{split: \{subtask: numbers\}\}"),
        ({"train": {"a": 5}}, "'train', 'a' must hold a list or a range of ints, got 5"),
        ({"train": {"a": ["x"]}}, "'train', 'a': a task number must be an int >= 0, got 'x'"),
        ({"train": {"a": [-1]}}, "a task number must be an int >= 0, got -1"),
        (
            {"train": {"a": [1]}, "test": {"b": [0, 1]}},
            "'test', 'b': the task number 1 stands in 'train', 'a' already",
        ),
    ],
)
def test_a_table_that_lists_no_tasks_is_refused(table: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ListedTasks("toy", table)


# Files of item ids ------------------------------------------------------------------------------


def written(path: Path, items: Any) -> str:
    path.write_text(json.dumps(items))
    return str(path)


def test_a_file_of_item_ids_names_tasks_of_any_split_in_its_order(tmp_path: Path) -> None:
    path = written(tmp_path / "ids.json", [{"item_id": "toy_10"}, {"item_id": "toy_1"}, "toy_10"])
    assert TASKS.select("train", [path]) == [10, 1]
    assert TASKS.select("train", path) == [10, 1]
    assert TASKS.select("train", ["b", path]) == [3, 10, 1]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "must hold a list of item ids"),
        ({"item_id": "toy_1"}, "must hold a list of item ids"),
        ([{"id": "toy_1"}], "got None"),
        ([3], "got 3"),
        (["toy_4"], "unknown task_id 'toy_4'"),
        (["other_1"], "unknown task_id 'other_1'"),
    ],
)
def test_a_file_that_names_no_task_is_refused(items: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        TASKS.select("train", [written(tmp_path / "ids.json", items)])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no\.json' cannot be read"):
        TASKS.select("train", [str(tmp_path / "no.json")])
