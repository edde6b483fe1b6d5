"""Play in BabyAI from the text alone: pursue the goal where it is in sight, else explore.

Each turn is decided by itself: where an offered action names what the mission asks for, it is taken
in some of the turns; in all others the player goes through doors, moves, or takes any offer. Unlike
the privileged expert's, which knows the whole grid, such play can be learned by a small policy, and
it fails in ways that reinforcement learning can mend.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from agentgym_envs.actions import ReactParser
from agentgym_envs.babyai.levels import AGENTGYM_LEVELS
from lab.warm_start import GOAL_SHARE, Message
from lab.warm_start.babyai_play import READING_WEIGHT, SEEDS, babyai_game

MAX_TURNS = 10
SLIP_SHARE = 0.06
"""Share of the turns that name a thing which may not be there.

The slip itself is not learned, but the answer to it is read, and how one goes on.
"""
_COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
_REQUESTED = re.compile(
    rf"(go to|pick up|open) (?:the|a|an) (?:({'|'.join(_COLOURS)}) )?(ball|key|box|door)"
)
_MOVES = ("turn left", "turn right", "move forward")


def rooms_play(rng: np.random.Generator) -> list[Message]:
    """Play one episode in a room of the training split's levels, from a seed that no split has."""
    env, levels = babyai_game(MAX_TURNS)
    number = int(rng.choice(levels)) + len(AGENTGYM_LEVELS) * int(rng.integers(*SEEDS))
    observation, info = env.reset(options={"task_id": number})
    messages = [Message("system", env.unwrapped.system_prompt)]
    parser = ReactParser()
    while True:
        messages.append(Message("user", observation, READING_WEIGHT))
        offered = info["available_actions"]
        is_slip = rng.random() < SLIP_SHARE
        action = _slip(rng) if is_slip else _choose(rng, env.unwrapped.goal, offered)
        messages.append(Message("assistant", parser.format(action, ""), 0.0 if is_slip else 1.0))
        observation, _, terminated, truncated, info = env.step(messages[-1].content)
        if terminated or truncated:
            return messages


def mission_actions(goal: str, offered: Sequence[str]) -> list[str]:
    """List the offered actions that carry out a part of the mission."""
    actions: list[str] = []
    for verb, colour, kind in _REQUESTED.findall(goal):
        does_it = re.compile(rf"{verb} {colour or '[a-z]+'} (?:open |closed |locked )?{kind} \d+$")
        actions += [action for action in offered if does_it.match(action)]
    return actions


def _choose(rng: np.random.Generator, goal: str, offered: Sequence[str]) -> str:
    hits = mission_actions(goal, offered)
    if hits and rng.random() < GOAL_SHARE:
        return str(rng.choice(hits))
    doors = [action for action in offered if "through" in action]
    what = rng.random()
    if doors and what < 0.35:
        return str(rng.choice(doors))
    if what < 0.7:
        return str(rng.choice([action for action in offered if action in _MOVES]))
    return str(rng.choice(offered))


def _slip(rng: np.random.Generator) -> str:
    verb = rng.choice(["go to", "pick up", "open"])
    colour, kind = rng.choice(_COLOURS), rng.choice(["ball", "key", "box"])
    return f"{verb} {colour} {kind} {rng.integers(1, 4)}"
