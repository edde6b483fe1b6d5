"""Maps a TextCraft task's number to its goal, what it shows and its split."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from agentgym_envs.tasks import ListedTasks, TaskSpec
from agentgym_envs.textcraft.commands import command_list, first_observation
from agentgym_envs.textcraft.recipes import RecipeBook

SPLIT_SIZES: dict[int, dict[str, int]] = {
    1: {"test": 31, "validation": 15},
    2: {"test": 41, "validation": 39},
    3: {"test": 25, "validation": 15},
    4: {"test": 3, "validation": 1},
}
"""Tasks of each depth in the built-in table's splits; the rest are training tasks. The test depths
are those of AgentGym-RL's test panel (arXiv 2509.08755)."""


class TextCraftTasks(ListedTasks):
    """The craftable items of a book, numbered by (depth, name).

    Which goals are test goals is fixed by a hash of their names.

    Args:
        book: the recipes.
        split_sizes: for each depth, how many tasks other splits than `"train"` take; None gives
            each the built-in table's share of all goals: 100 and 70 of 544, rounded down.

    Raises:
        ValueError: the book holds no recipe.
    """

    def __init__(
        self, book: RecipeBook, split_sizes: dict[int, dict[str, int]] | None = None
    ) -> None:
        if not book.goals:
            raise ValueError(f"{book.source} holds no recipe that can be crafted")
        self.book = book
        self.goals = book.goals
        self.number_of = {goal: number for number, goal in enumerate(self.goals)}
        self._first_observations: dict[int, str] = {}
        self._depth_of = {number: book.depth(goal) for goal, number in self.number_of.items()}
        if split_sizes is None:
            total = len(self.goals)
            shares = {"test": total * 100 // 544, "validation": total * 70 // 544}
            groups = [(list(range(total)), shares)]
        else:
            groups = [
                ([n for n, d in self._depth_of.items() if d == depth], sizes)
                for depth, sizes in split_sizes.items()
            ]
        table: dict[str, dict[str, Sequence[int]]] = {"train": {}, "validation": {}, "test": {}}
        for numbers, sizes in groups:
            numbers.sort(key=lambda n: hashlib.sha256(self.goals[n].encode()).digest())
            for split in ("test", "validation", "train"):
                size = sizes.get(split, len(numbers))
                self._file(table[split], numbers[:size])
                numbers = numbers[size:]
        super().__init__("textcraft", table)
        deepest = max(self._depth_of.values())
        self.tasks_filter = f"task ids, depths (an int is a depth here, 1 to {deepest}) or subtasks"

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return the id, the subtask (`"depth 2"`) and the depth (`2`).

        A bare int in a `tasks=` filter is a depth; name single tasks by their ids.
        """
        return (spec.task_id, spec.subtask, self._depth_of[spec.number])

    def first_observation(self, number: int) -> str:
        """Return the commands and the goal of a task, written once per task set."""
        if number not in self._first_observations:
            goal = self.goals[number]
            commands = command_list(self.book, goal, number)
            self._first_observations[number] = first_observation(commands, goal)
        return self._first_observations[number]

    def _file(self, subtasks: dict[str, Sequence[int]], numbers: Sequence[int]) -> None:
        for number in sorted(numbers):
            subtask = f"depth {self._depth_of[number]}"
            subtasks[subtask] = [*subtasks.get(subtask, ()), number]
