"""The expert's play in ALFWorld, in the houses of the training split.

Play that wanders taught wandering: with it in three plays of five, 71% of a policy's turns went so.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

from lab.warm_start import Message

READING_WEIGHT = 0.1
MAX_TURNS = 20
READ_FOR_UNITS = 1000  # plays


def alfworld_play(rng: np.random.Generator) -> list[Message]:
    """Play one training task as the expert does, for `MAX_TURNS` at most."""
    env = _game()
    env.reset(seed=int(rng.integers(2**31)))
    observation, _ = env.reset()
    messages = [Message("system", env.unwrapped.system_prompt)]
    for completion in env.unwrapped.expert():
        messages.append(Message("user", observation, READING_WEIGHT))
        messages.append(Message("assistant", completion, 1.0))
        observation, _, terminated, truncated, _ = env.step(completion)
        if terminated or truncated:
            break
    return messages


def alfworld_units() -> list[str]:
    """List the words of such play, each numbered name as one, and the lines of the instructions."""
    rng = np.random.default_rng(0)
    system, *_ = first = alfworld_play(rng)
    messages = [*first[1:], *(m for _ in range(READ_FOR_UNITS) for m in alfworld_play(rng)[1:])]
    names = {name for m in messages for name in re.findall(r" [a-z]+ [0-9]+", m.content)}
    words = {word for m in messages for word in re.findall(r" ?[A-Za-z]+", m.content)}
    lines = re.split(r"(?<=\n)", system.content)
    return [*sorted(names), *sorted(words), *(line for line in lines if line.strip())]


@cache
def _game() -> Any:
    return gym.make("agentgym/ALFWorld-v0", action_format="react", max_turns=MAX_TURNS)
