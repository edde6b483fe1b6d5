"""Lists MiniWoB's tasks: the page and seed that a number means, and the split that holds it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

from agentgym_envs.core.tasks import TaskSet

_TABLE = tomllib.loads(files("agentgym_envs.miniwob").joinpath("tasks.toml").read_text("utf-8"))

NAMES: tuple[str, ...] = tuple(_TABLE["names"])
HELD_OUT: tuple[str, ...] = tuple(_TABLE["held_out"])
BY_CLOSENESS: frozenset[str] = frozenset(_TABLE["by_closeness"])

SEEDS = 1_000_000
"""Seeds of a task: its ids are its place times this, plus the seed."""

SPLIT_SEEDS: Mapping[str, range] = {
    "train": range(80),
    "validation": range(80, 85),
    "test": range(85, 90),
}
"""The seeds of every task in a split. A task's other seeds can be played too."""

UNLISTED = "unlisted"


class MiniWoBTasks(TaskSet):
    """Every page with every seed."""

    env_name = "miniwob"
    splits = tuple(SPLIT_SEEDS)
    panels = {"others": "train", "holdout": "test"}

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split or panel: task by task, the seeds in order."""
        seeds = SPLIT_SEEDS[self.panels.get(split, split)]
        return [
            place * SEEDS + seed
            for place, name in enumerate(NAMES)
            if split not in self.panels or (name in HELD_OUT) == (split == "holdout")
            for seed in seeds
        ]

    def describe(self, number: int) -> tuple[str, str]:
        """Return a number's task and split, or `"unlisted"` for a seed of no split.

        Raises:
            ValueError: there is no such task.
        """
        place, seed = divmod(number, SEEDS)
        if not 0 <= place < len(NAMES):
            raise ValueError(
                f"unknown task_id '{self.env_name}_{number}'; there are '{self.env_name}_0' to "
                f"'{self.env_name}_{len(NAMES) * SEEDS - 1}': a task's place in {len(NAMES)} tasks "
                f"times {SEEDS}, plus a seed; env.unwrapped.task_ids(split) lists the splits"
            )
        split = next((name for name, seeds in SPLIT_SEEDS.items() if seed in seeds), UNLISTED)
        return NAMES[place], split


def success_threshold(name: str) -> float:
    """Return the least raw reward of a task that is done."""
    return 0.9 if name in BY_CLOSENESS else 1.0


def task_seed(number: int) -> int:
    """Return the seed of a task number."""
    return number % SEEDS
