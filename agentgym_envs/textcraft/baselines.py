"""A baseline of TextCraft: a rule that reads names and understands none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove


def goal_recipe(first_observation: str, goal: str) -> Iterator[ExpertMove]:
    """Get the ingredients of the goal's first command, word by word, and craft it.

    Args:
        first_observation: the commands.
        goal: the item.
    """
    command = re.search(rf"^craft \d+ {re.escape(goal)} using (.+)$", first_observation, re.M)
    assert command is not None, f"no command crafts {goal}"
    for ingredient in command[1].split(", "):
        yield ExpertMove(f"get {ingredient}")
    yield ExpertMove(command[0])
