"""Numbers WebShop's tasks as AgentGym's server does: a task's number is its goal's place."""

from __future__ import annotations

from collections.abc import Sequence

from agentgym_envs.core.tasks import ListedTasks
from agentgym_envs.webshop.catalogue import Goal

NUM_GOALS = 6_910
"""Goals of AgentGym's server, and of the shop that is shipped."""

NUM_TEST = 150
NUM_VALIDATION = 50
NUM_TRAINING = NUM_GOALS - NUM_VALIDATION - NUM_TEST


class WebShopTasks(ListedTasks):
    """A shop's goals: the last ones are for tests, those before them for validation.

    A subtask is the category of the product that a goal was drawn from.

    Args:
        goals: of the shop; with fewer than AgentGym's, the test goals and the validation goals are
            fewer by the same factor.
    """

    def __init__(self, goals: Sequence[Goal]) -> None:
        num_test = min(NUM_TEST, len(goals) * NUM_TEST // NUM_GOALS)
        num_held_out = num_test + min(NUM_VALIDATION, len(goals) * NUM_VALIDATION // NUM_GOALS)
        table: dict[str, dict[str, list[int]]] = {"train": {}, "validation": {}, "test": {}}
        for number, goal in enumerate(goals):
            left = len(goals) - number
            split = "train" if left > num_held_out else "validation"
            split = "test" if left <= num_test else split
            table[split].setdefault(goal.product.category, []).append(number)
        super().__init__("webshop", table)
