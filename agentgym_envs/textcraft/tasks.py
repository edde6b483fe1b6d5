"""Maps a TextCraft task's number to its goal, its shown recipes and its split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from agentgym_envs.core.tasks import ListedTasks, TaskSpec
from agentgym_envs.textcraft.planner import plan
from agentgym_envs.textcraft.recipes import RecipeBook

SPLIT_SIZES: dict[int, dict[str, int]] = {
    1: {"test": 31, "validation": 15},
    2: {"test": 41, "validation": 39},
    3: {"test": 25, "validation": 15},
    4: {"test": 3, "validation": 1},
}
"""Tasks of each depth in the built-in table's splits. The rest are training tasks.

The test depths are those of AgentGym-RL's test panel (arXiv 2509.08755).
"""

MAX_DISTRACTORS = 10
"""Distractors of a task at most, and uses of one ingredient that may become distractors."""


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
        self.source = book.source
        self.goals = book.goals
        self._number_of = {goal: number for number, goal in enumerate(self.goals)}
        self._first_observations: dict[int, str] = {}
        self._expert_turns: dict[int, int] = {}
        self._depth_of = {number: book.depth(goal) for goal, number in self._number_of.items()}
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

    def goal_number(self, goal: str) -> int:
        """Return the number of the task of a goal.

        Raises:
            ValueError: nothing crafts it.
        """
        if goal not in self._number_of:
            raise ValueError(
                f"unknown goal {goal!r}; allowed: the {len(self.goals)} craftable items of "
                f"{self.source}, such as {self.goals[0]!r}; env.unwrapped.book.goals lists them"
            )
        return self._number_of[goal]

    def task_book(self, number: int) -> RecipeBook:
        """Return a task's recipes: the one book."""
        return self.book

    def task_goal(self, number: int) -> str:
        """Return a task's goal."""
        return self.goals[number]

    def first_observation(self, number: int) -> str:
        """Return the commands and the goal of a task, written once per task set."""
        if number not in self._first_observations:
            goal = self.goals[number]
            commands = command_list(self.book, goal, number)
            self._first_observations[number] = first_observation(commands, goal)
        return self._first_observations[number]

    def expert_turns(self, number: int) -> int:
        """Return how many turns the expert's plan takes, planned once per task set."""
        if number not in self._expert_turns:
            self._expert_turns[number] = plan(self.book, self.goals[number], {}).num_actions
        return self._expert_turns[number]

    def _file(self, subtasks: dict[str, Sequence[int]], numbers: Sequence[int]) -> None:
        for number in sorted(numbers):
            subtask = f"depth {self._depth_of[number]}"
            subtasks[subtask] = [*subtasks.get(subtask, ()), number]


def command_list(book: RecipeBook, goal: str, seed: int | str) -> tuple[str, ...]:
    """List the commands of every recipe on any way to the goal, among distractors, shuffled.

    A distractor is a recipe that uses an ingredient of those recipes. As in the original, up to
    `MAX_DISTRACTORS` uses of each ingredient are candidates, and as many of all candidates enter.

    Args:
        book: the recipes.
        goal: a craftable item.
        seed: chooses distractors and order; the same on every machine and Python.
    """
    closure = dict.fromkeys(recipe.text for recipe in book.closure(goal))
    ingredients = {name for recipe in book.closure(goal) for _, name in recipe.ingredients}
    candidates: set[str] = set()
    for name in ingredients:
        uses = (recipe.text for recipe in book.uses[name])
        candidates.update(_shuffled(uses, f"{seed}/{name}")[:MAX_DISTRACTORS])
    distractors = _shuffled(candidates.difference(closure), f"{seed}/distractors")
    return tuple(_shuffled([*closure, *distractors[:MAX_DISTRACTORS]], f"{seed}/order"))


def first_observation(commands: Iterable[str], goal: str) -> str:
    """Write a task's first observation."""
    return "Crafting commands:\n" + "\n".join(commands) + f"\n\nGoal: craft {goal}."


def _shuffled(texts: Iterable[str], seed: str) -> list[str]:
    # A hash order: library generators promise no stream that outlives their next version.
    return sorted(texts, key=lambda text: hashlib.sha256(f"{seed}/{text}".encode()).digest())
