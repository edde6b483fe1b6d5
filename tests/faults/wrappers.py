"""Machinery that breaks when a test says so."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any
from zlib import crc32

import gymnasium as gym

from agentgym_envs import EnvFailure

CAUSE = "the simulator is gone"
SHOWN = 60
"""Characters of an observation."""


class Breaks(gym.Wrapper):  # type: ignore[misc]
    """Asks before each turn whether the machinery is broken."""

    is_broken: Callable[[], bool] = staticmethod(lambda: False)

    def step(self, action: Any) -> Any:
        if Breaks.is_broken():
            raise EnvFailure(CAUSE)
        return self.env.step(action)


class Slow(gym.Wrapper):  # type: ignore[misc]
    """Takes a while for each turn."""

    def step(self, action: Any) -> Any:
        time.sleep(0.3)
        return self.env.step(action)


class SignalledAt(gym.Wrapper):  # type: ignore[misc]
    """Sends its own process SIGTERM at the turn that is named, of all that are played."""

    turns_left = 0

    def step(self, action: Any) -> Any:
        SignalledAt.turns_left -= 1
        if SignalledAt.turns_left == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        return self.env.step(action)


class _ForSmallModels(gym.Wrapper):  # type: ignore[misc]
    """Shows little, and makes an action of whatever a policy writes."""

    system_prompt = ""
    actions: tuple[str, ...]

    def reset(self, **kwargs: Any) -> Any:
        observation, info = self.env.reset(**kwargs)
        return observation[:SHOWN], info

    def step(self, action: Any) -> Any:
        number = crc32(str(action).encode()) % len(self.actions)
        observation, *rest = self.env.step(self.actions[number])
        return observation[:SHOWN], *rest


class Searches(_ForSmallModels):
    """Each turn needs the retriever."""

    actions = tuple(
        f"<search>{word}</search>" for word in ("city", "river", "author", "museum", "painter")
    )


class Experiments(_ForSmallModels):
    """Each turn needs ScienceWorld's simulator."""

    actions = tuple(
        f"Thought: on\nAction: {words}"
        for words in ("look around", "inventory", "wait1", "open door to kitchen")
    )


class Clicks(_ForSmallModels):
    """Each turn needs the browser."""

    actions = ("click [5]", "click [6]", "press [Tab]", "noop")
