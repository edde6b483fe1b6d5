"""The drawn books' tasks by number."""

from __future__ import annotations

from functools import lru_cache

from agentgym_envs.core.tasks import ListedTasks
from agentgym_envs.core.text import counted
from agentgym_envs.textcraft.drawn import KINDS, drawn_task
from agentgym_envs.textcraft.planner import plan
from agentgym_envs.textcraft.recipes import RecipeBook
from agentgym_envs.textcraft.tasks import first_observation

SPLITS = {
    "train": range(4_000),
    "validation": range(10_000, 10_200),
    "test": range(20_000, 20_200),
}
"""The numbers of each split. Each number has a book of its own, so splits share none."""


class DrawnTasks(ListedTasks):
    """A book and a goal for each number, in subtasks by the number of crafts.

    Args:
        name: one of `KINDS`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind = KINDS[name]
        self.source = self.kind.source
        subtasks = [_subtask(*band) for band in self.kind.bands]
        table = {
            split: {
                subtask: numbers[band :: len(subtasks)] for band, subtask in enumerate(subtasks)
            }
            for split, numbers in SPLITS.items()
        }
        super().__init__("textcraft", table)

    def goal_number(self, goal: str) -> int:
        """Raise ValueError, for a goal's name does not say which book is meant."""
        raise ValueError(
            f"goal {goal!r} names no task of {self.source}, where each task has a book of its own; "
            "give options={'task_id': ...} or book='minecraft'"
        )

    def task_book(self, number: int) -> RecipeBook:
        """Return a task's recipes."""
        return drawn_task(self.name, number).book

    def task_goal(self, number: int) -> str:
        """Return a task's goal."""
        return drawn_task(self.name, number).goal

    def first_observation(self, number: int) -> str:
        """Return the commands of a task's whole book and its goal."""
        task = drawn_task(self.name, number)
        return first_observation((recipe.text for recipe in task.book.recipes), task.goal)

    def expert_turns(self, number: int) -> int:
        """Return how many turns the expert's plan takes."""
        return _expert_turns(self.name, number)


@lru_cache(maxsize=256)
def _expert_turns(name: str, number: int) -> int:
    task = drawn_task(name, number)
    return plan(task.book, task.goal).num_actions


def _subtask(fewest: int, most: int) -> str:
    if fewest == most:
        return counted(most, "craft")
    return f"{fewest}-{most} crafts"
