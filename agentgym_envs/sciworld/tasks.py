"""Maps a task's number to its experiment, variation and split.

All is computed from `tasks.toml`, the simulator's own facts, so that listing a split starts no
simulator.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.resources import files
from typing import NamedTuple

from agentgym_envs.core.tasks import TaskSet, TaskSpec
from agentgym_envs.errors import UnknownTask

_TABLE = tomllib.loads(files("agentgym_envs.sciworld").joinpath("tasks.toml").read_text("utf-8"))

NUM_VARIATIONS: dict[str, int] = _TABLE["num_variations"]
LEFT_OUT: tuple[str, ...] = tuple(_TABLE["left_out"])
SUBTASKS: dict[str, str] = _TABLE["subtasks"]
PAPER_TEST_SIZES: dict[str, int] = _TABLE["paper_test"]


class TaskVariation(NamedTuple):
    """A task of the simulator."""

    task: str
    variation: int


class SciWorldTasks(TaskSet):
    """All variations of ScienceWorld's 30 tasks.

    The splits are the simulator's: of each task's variations the first half are for training, the
    third quarter for validation and the rest for testing. Besides them there is `paper_test`, a
    pinned part of `test`: 200 tasks with the sizes of the paper's table.
    """

    env_name = "sciworld"
    splits = ("train", "validation", "test")
    panels = {"paper_test": "test"}
    tasks_filter = "task ids, their numbers, subtasks or the simulator's task names"

    @cached_property
    def _games(self) -> list[TaskVariation]:
        agentgyms = [task for task in NUM_VARIATIONS if task not in LEFT_OUT]
        return [
            TaskVariation(task, variation)
            for task in (*agentgyms, *LEFT_OUT)
            for variation in range(NUM_VARIATIONS[task])
        ]

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {split: [] for split in self.splits}
        for number, game in enumerate(self._games):
            numbers[_split_of(game)].append(number)
        return {**numbers, "paper_test": sorted(self._paper_test(numbers["test"]))}

    def numbers(self, split: str) -> Sequence[int]:
        """List the task numbers of a split or panel, ascending."""
        return self._numbers[split]

    def game(self, number: int) -> TaskVariation:
        """Return the simulator's task of a number.

        Raises:
            UnknownTask: there is no such task.
        """
        if not 0 <= number < len(self._games):
            raise UnknownTask(
                f"unknown task_id 'sciworld_{number}'; there are {len(self._games)} tasks, "
                f"'sciworld_0' to 'sciworld_{len(self._games) - 1}'; env.unwrapped.task_ids(split) "
                "lists a split"
            )
        return self._games[number]

    def describe(self, number: int) -> tuple[str, str]:
        """Return (row of the paper's table or the simulator's task name, split)."""
        game = self.game(number)
        return _subtask_of(game.task), _split_of(game)

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return the labels of a task: id, number, subtask or task name."""
        return (*super().labels(spec), self.game(spec.number).task)

    def _paper_test(self, numbers: Iterable[int]) -> list[int]:
        """Take the tasks of each row by the order of their hashes."""
        left = dict(PAPER_TEST_SIZES)
        chosen = []
        for number in sorted(numbers, key=_hash_of):
            subtask, _ = self.describe(number)
            if left.get(subtask, 0):
                left[subtask] -= 1
                chosen.append(number)
        return chosen


def _hash_of(number: int) -> bytes:
    return hashlib.sha256(f"sciworld_{number}".encode()).digest()


def _subtask_of(task: str) -> str:
    for subtask, beginning in SUBTASKS.items():
        if task.startswith(beginning):
            return subtask
    return task


def _split_of(game: TaskVariation) -> str:
    quarter = NUM_VARIATIONS[game.task] // 4
    if game.variation < 2 * quarter:
        return "train"
    return "validation" if game.variation < 3 * quarter else "test"
