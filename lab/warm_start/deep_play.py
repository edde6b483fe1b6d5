"""Play in TextCraft's deep books, as `textcraft_play` plays, always for the goal.

The books are of numbers that no split has, of the subtask with the fewest crafts: `tiny` writes
nonsense where an episode grows longer than those that it has read. Many of the plays slip often: a
start that had read one slip at most was lost after the second.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from agentgym_envs.textcraft.drawn import KINDS, drawn_task
from agentgym_envs.textcraft.env import TextCraftEnv
from lab.warm_start import Message
from lab.warm_start.textcraft_play import play_in

SLIP_RATES = (0.0, 0.4)
"""A play's share of turns that are slips is drawn between them."""
NUMBERS = (100_000, 1_000_000_000)  # times four, beyond those of the splits


def deep_play(rng: np.random.Generator) -> list[Message]:
    """Play one episode with the book of a number that no split has."""
    while True:
        number = int(rng.integers(*NUMBERS))
        task = drawn_task("deep", number - number % len(KINDS["deep"].bands))
        commands = [recipe.text for recipe in task.book.recipes]
        prompt = _system_prompt()
        messages = play_in(
            *(task.book, task.goal, commands, rng),
            system_prompt=prompt,
            goal_share=1.0,
            slip_rate=rng.uniform(*SLIP_RATES),
        )
        if messages is not None:
            return messages


@cache
def _system_prompt() -> str:
    return TextCraftEnv(book="deep", action_format="react").system_prompt
