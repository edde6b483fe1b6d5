"""Maps a task's number to its experiment, variation and split.

All is computed from the table below, the simulator's own facts, so that listing a split starts no
simulator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from agentgym_envs.core.tasks import TaskSet, TaskSpec
from agentgym_envs.errors import UnknownTask

NUM_VARIATIONS: dict[str, int] = {
    "boil": 30,
    "melt": 30,
    "freeze": 30,
    "change-the-state-of-matter-of": 30,
    "use-thermometer": 540,
    "measure-melting-point-known-substance": 436,
    "measure-melting-point-unknown-substance": 300,
    "power-component": 20,
    "power-component-renewable-vs-nonrenewable-energy": 20,
    "test-conductivity": 900,
    "test-conductivity-of-unknown-substances": 600,
    "find-living-thing": 300,
    "find-non-living-thing": 300,
    "find-plant": 300,
    "find-animal": 300,
    "grow-plant": 126,
    "grow-fruit": 126,
    "chemistry-mix": 32,
    "chemistry-mix-paint-secondary-color": 36,
    "chemistry-mix-paint-tertiary-color": 36,
    "lifespan-longest-lived": 125,
    "lifespan-shortest-lived": 125,
    "lifespan-longest-lived-then-shortest-lived": 125,
    "identify-life-stages-1": 14,
    "identify-life-stages-2": 10,
    "inclined-plane-determine-angle": 168,
    "inclined-plane-friction-named-surfaces": 1386,
    "inclined-plane-friction-unnamed-surfaces": 162,
    "mendelian-genetics-known-plant": 120,
    "mendelian-genetics-unknown-plant": 480,
}
"""ScienceWorld 1.2's tasks in its own order, with their numbers of variations."""

LEFT_OUT = (
    "grow-plant",
    "grow-fruit",
    "inclined-plane-determine-angle",
    "inclined-plane-friction-named-surfaces",
    "inclined-plane-friction-unnamed-surfaces",
    "mendelian-genetics-known-plant",
    "mendelian-genetics-unknown-plant",
)
"""The tasks that AgentGym leaves out; their numbers come after all others."""

SUBTASKS: dict[str, str] = {
    "Measure": "measure-",
    "Test-Conductivity": "test-conductivity",
    "Find": "find-",
    "Chem-Mix": "chemistry-mix",
    "Lifespan": "lifespan-",
}
"""The rows of AgentGym-RL's table (arXiv 2509.08755), and how their tasks' names begin."""

PAPER_TEST_SIZES: dict[str, int] = {
    "Measure": 53,
    "Test-Conductivity": 83,
    "Find": 44,
    "Chem-Mix": 5,
    "Lifespan": 15,
}


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
