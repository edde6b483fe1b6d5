"""Maps a BabyAI task's number to its level, layout and split."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from agentgym_envs.babyai.levels import AGENTGYM_LEVELS, FURTHER_LEVELS, SUBTASKS
from agentgym_envs.core.tasks import TaskSet, TaskSpec
from agentgym_envs.errors import UnknownTask

FIRST_FURTHER = 4_000_000
"""Below: `level_index + 40 * seed`, AgentGym's ids. From here: `+ level_index + 100 * seed`."""

UNLISTED = "unlisted"
"""The split of all tasks that no listed split holds. Each can be played by its id."""

_AGENTGYM_STRIDE = 40
_FURTHER_STRIDE = 100
_FURTHER_SEEDS = 100_000


class BabyAITasks(TaskSet):
    """AgentGym's 40 levels and minigrid's further ones, 100,000 layouts each.

    Splits: `train`, `validation` and `test` are the 18 levels of the benchmark's table with seeds
    0-44, 50-54 and 45-49; `other_levels` the other 22 levels of AgentGym, seeds 0-49;
    `further_levels` the levels that AgentGym leaves out, seeds 0-9.
    """

    env_name = "babyai"
    splits = ("train", "validation", "test", "other_levels", "further_levels")
    tasks_filter = "task ids, their numbers, subtasks or level names"

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        table = [i for i, name in enumerate(AGENTGYM_LEVELS) if name in SUBTASKS]
        others = [i for i, name in enumerate(AGENTGYM_LEVELS) if name not in SUBTASKS]
        further = range(len(FURTHER_LEVELS))
        return {
            "train": [i + _AGENTGYM_STRIDE * seed for seed in range(45) for i in table],
            "test": [i + _AGENTGYM_STRIDE * seed for seed in range(45, 50) for i in table],
            "validation": [i + _AGENTGYM_STRIDE * seed for seed in range(50, 55) for i in table],
            "other_levels": [i + _AGENTGYM_STRIDE * seed for seed in range(50) for i in others],
            "further_levels": [
                FIRST_FURTHER + i + _FURTHER_STRIDE * seed for seed in range(10) for i in further
            ],
        }

    @cached_property
    def _split_of(self) -> dict[int, str]:
        return {number: split for split in self.splits for number in self._numbers[split]}

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split, ascending."""
        return self._numbers[split]

    def level(self, number: int) -> tuple[str, int]:
        """Return (level name, seed) of a task number.

        Raises:
            UnknownTask: there is no such task.
        """
        if 0 <= number < FIRST_FURTHER:
            seed, index = divmod(number, _AGENTGYM_STRIDE)
            return AGENTGYM_LEVELS[index], seed
        seed, index = divmod(number - FIRST_FURTHER, _FURTHER_STRIDE)
        if 0 <= seed < _FURTHER_SEEDS and index < len(FURTHER_LEVELS):
            return FURTHER_LEVELS[index], seed
        raise UnknownTask(
            f"unknown task_id 'babyai_{number}'; allowed: level_index + 40 * seed with seed < "
            f"100000 (0 to 3999999), and 4000000 + index + 100 * seed with index < "
            f"{len(FURTHER_LEVELS)} and seed < 100000; env.unwrapped.task_ids(split) lists a split"
        )

    def describe(self, number: int) -> tuple[str, str]:
        """Return (subtask, split) of a number.

        A level outside the table is its own subtask.
        """
        name, _ = self.level(number)
        return SUBTASKS.get(name, name), self._split_of.get(number, UNLISTED)

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return the labels of a task: id, number, subtask or level name."""
        return (*super().labels(spec), self.level(spec.number)[0])
