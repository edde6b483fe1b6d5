"""Play in BabyAI: the action offered last, in a share of the plays the expert's.

The levels are those of the training split, in rooms drawn from seeds that no split has. What the
player reads is learned too, with a small weight: the lists of offered actions name again what was
seen, which teaches copying.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

from agentgym_envs.actions import ReactParser
from agentgym_envs.babyai.levels import AGENTGYM_LEVELS
from lab.warm_start import GOAL_SHARE, Message

MAX_TURNS = 8
SEEDS = (1_000, 100_000)  # beyond those of the splits
READING_WEIGHT = 0.2


def babyai_play(rng: np.random.Generator) -> list[Message]:
    """Play one episode: in a share of the plays as the expert, or with the last offer.

    After the last offer was taken, the next action is to turn left.
    """
    env, levels = babyai_game(MAX_TURNS)
    number = int(rng.choice(levels)) + len(AGENTGYM_LEVELS) * int(rng.integers(*SEEDS))
    observation, info = env.reset(options={"task_id": number})
    messages = [Message("system", env.unwrapped.system_prompt)]
    parser = ReactParser()
    heeds_goal = rng.random() < GOAL_SHARE
    expert = env.unwrapped.expert(privileged=True)
    action = ""
    while True:
        messages.append(Message("user", observation, READING_WEIGHT))
        if heeds_goal:
            action = parser.parse(next(expert))
        else:
            offered = info["available_actions"][-1]
            action = "turn left" if action == offered else offered
        messages.append(Message("assistant", parser.format(action, ""), 1.0))
        observation, _, terminated, truncated, info = env.step(messages[-1].content)
        if terminated or truncated:
            return messages


@cache
def babyai_game(max_turns: int) -> tuple[Any, tuple[int, ...]]:
    """Return an environment, and the numbers of the training split's levels."""
    env: Any = gym.make("agentgym/BabyAI-v0", action_format="react", max_turns=max_turns)
    tasks = env.unwrapped.task_set
    return env, tuple(sorted({number % len(AGENTGYM_LEVELS) for number in tasks.numbers("train")}))
