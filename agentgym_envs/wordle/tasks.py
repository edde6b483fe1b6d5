"""Numbers Wordle's tasks: AgentGym's by the seed of a game, ours by the place of the word."""

from __future__ import annotations

from collections.abc import Sequence

from agentgym_envs.core.tasks import ListedTasks
from agentgym_envs.wordle.lists import Lists

LISTED, OPEN = "listed", "open"
"""The subtasks: the words are shown, or they are the common ones of the language."""

NUM_TEST = 25
NUM_TRAIN = 955
NUM_VALIDATION = 50
"""Sizes of the splits, in this order from 0 on.

AgentGym's tests come first, then as many tasks as its trajectories, then further ones.
"""

FIRST_OPEN = 10_000
"""From this number on a task's word is the one at this place of the list."""

OPEN_TEST, OPEN_VALIDATION = 200, 100


class WordleTasks(ListedTasks):
    """Tasks by subtask and split.

    Args:
        lists: the words; without a list of common ones there are no tasks of them.
    """

    def __init__(self, lists: Lists) -> None:
        train = NUM_TEST + NUM_TRAIN
        table: dict[str, dict[str, Sequence[int]]] = {
            "train": {LISTED: range(NUM_TEST, train)},
            "validation": {LISTED: range(train, train + NUM_VALIDATION)},
            "test": {LISTED: range(NUM_TEST)},
        }
        if lists.common is not None:
            first, behind = FIRST_OPEN, FIRST_OPEN + len(lists.hidden)
            table["test"][OPEN] = range(first, first := first + OPEN_TEST)
            table["validation"][OPEN] = range(first, first := first + OPEN_VALIDATION)
            table["train"][OPEN] = range(first, behind)
        super().__init__("wordle", table)
