"""The deep books' tasks by number."""

from __future__ import annotations

from functools import lru_cache

from agentgym_envs.tasks import ListedTasks
from agentgym_envs.textcraft.deep import BANDS, SOURCE, deep_task
from agentgym_envs.textcraft.planner import plan
from agentgym_envs.textcraft.recipes import RecipeBook
from agentgym_envs.textcraft.tasks import first_observation

MAX_TURNS = 100
"""Turns of an episode; the longest plan has fewer than 75 actions."""

SPLITS = {
    "train": range(4_000),
    "validation": range(10_000, 10_200),
    "test": range(20_000, 20_200),
}
"""The numbers of each split. Each number has a book of its own, so splits share none."""

SUBTASKS = tuple(f"{fewest}-{most} crafts" for fewest, most in BANDS)
"""By how many crafts a goal takes."""


class DeepTasks(ListedTasks):
    """A book and a goal for each number; subtasks say how many crafts the goal takes."""

    source = SOURCE

    def __init__(self) -> None:
        table = {
            split: {name: numbers[band :: len(SUBTASKS)] for band, name in enumerate(SUBTASKS)}
            for split, numbers in SPLITS.items()
        }
        super().__init__("textcraft", table)

    def number_of(self, goal: str) -> int:
        """Raise ValueError, for a goal's name does not say which book is meant."""
        raise ValueError(
            f"goal {goal!r} names no task of {self.source}, where each task has a book of its own; "
            "give options={'task_id': ...} or book='minecraft'"
        )

    def book_of(self, number: int) -> RecipeBook:
        """Return a task's recipes."""
        return deep_task(number).book

    def goal_of(self, number: int) -> str:
        """Return a task's goal."""
        return deep_task(number).goal

    def first_observation(self, number: int) -> str:
        """Return the commands of a task's whole book and its goal."""
        task = deep_task(number)
        return first_observation((recipe.text for recipe in task.book.recipes), task.goal)

    def expert_turns(self, number: int) -> int:
        """Return how many turns the expert's plan takes."""
        return _expert_turns(number)


@lru_cache(maxsize=256)
def _expert_turns(number: int) -> int:
    task = deep_task(number)
    return plan(task.book, task.goal).num_actions
