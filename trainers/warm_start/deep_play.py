"""Play in TextCraft's deep books, as `textcraft_play` plays, and mostly for the goal.

The books are of numbers that no split has, of the two subtasks with the fewest crafts: longer plans
do not fit what `tiny` can write.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from agentgym_envs.textcraft.deep import BANDS, deep_task
from agentgym_envs.textcraft.env import TextCraftEnv
from trainers.warm_start import LONG_GOAL_SHARE, Message
from trainers.warm_start.textcraft_play import play_in

NUM_BANDS = 2
NUMBERS = (100_000, 1_000_000_000)  # times four, beyond those of the splits


def deep_play(rng: np.random.Generator) -> list[Message]:
    """Play one episode with the book of a number that no split has."""
    while True:
        number = int(rng.integers(*NUMBERS)) // len(BANDS) * len(BANDS) + int(
            rng.integers(NUM_BANDS)
        )
        task = deep_task(number)
        commands = [recipe.text for recipe in task.book.recipes]
        prompt = _system_prompt()
        messages = play_in(
            *(task.book, task.goal, commands, rng),
            system_prompt=prompt,
            goal_share=LONG_GOAL_SHARE,
        )
        if messages is not None:
            return messages


@cache
def _system_prompt() -> str:
    return TextCraftEnv(book="deep", action_format="react").system_prompt
