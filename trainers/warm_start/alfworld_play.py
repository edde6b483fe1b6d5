"""Play in ALFWorld: as the expert in a share of the plays, else by any command that does something.

The houses are those of the training split. The wanderer gives its commands with a thought as the
expert does, so that a policy that learns from both heeds the goal now and then.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

from agentgym_envs.actions import ReactParser
from trainers.warm_start import LONG_GOAL_SHARE, Message

READING_WEIGHT = 0.1
MAX_TURNS = 20
WANDERING = (4, 12)  # turns of a play without a goal
READ_FOR_UNITS = 1000  # plays
_IDLE = ("help", "inventory", "look")


def alfworld_play(rng: np.random.Generator) -> list[Message]:
    """Play one training task: to its end in a share of the plays, else some turns of wandering."""
    env = _game()
    env.reset(seed=int(rng.integers(2**31)))
    observation, info = env.reset()
    messages = [Message("system", env.unwrapped.system_prompt)]
    parser = ReactParser()
    heeds_goal = rng.random() < LONG_GOAL_SHARE
    expert = env.unwrapped.expert()
    turns = MAX_TURNS if heeds_goal else int(rng.integers(*WANDERING))
    for _ in range(turns):
        messages.append(Message("user", observation, READING_WEIGHT))
        if heeds_goal:
            completion = next(expert)
        else:
            action = _any(rng, info["available_actions"])
            completion = parser.format(action, f"I look around: I {action}.")
        messages.append(Message("assistant", completion, 1.0))
        observation, _, terminated, truncated, info = env.step(completion)
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


def _any(rng: np.random.Generator, offered: list[str]) -> str:
    here = [action for action in offered if not action.startswith("go to") and action not in _IDLE]
    if here and rng.random() < 0.5:
        return str(rng.choice(here))
    return str(rng.choice([action for action in offered if action not in _IDLE]))


@cache
def _game() -> Any:
    return gym.make("agentgym/ALFWorld-v0", action_format="react", max_turns=MAX_TURNS)
