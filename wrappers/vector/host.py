"""The side of a slot that lives with its environment: it makes the environment and plays it.

The same class serves in this thread, in another thread and in a worker process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym


class EnvHost:
    """One environment and what is kept beside it.

    Args:
        env_fn: makes the environment.
    """

    def __init__(self, env_fn: Callable[[], gym.Env[Any, Any]]) -> None:
        self.env = env_fn()
        self._expert: Iterator[str] | None = None
        self._closed = False

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
        """Start an episode."""
        self._expert = None
        return self.env.reset(seed=seed, options=options)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, float(reward), terminated, truncated, info

    def get(self, name: str) -> Any:
        """Read an attribute of the outermost wrapper that has it, else of the environment."""
        return self.env.get_wrapper_attr(name)

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of the outermost wrapper that has it, else of the environment."""
        return self.get(name)(*args, **kwargs)

    def expert_action(self) -> str | None:
        """Take the expert's next action, None when it has no more.

        One iterator serves the episode, so each action must be played before the next is asked for.
        """
        if self._expert is None:
            self._expert = self.call("expert", (), {})
        return next(self._expert, None)

    def close(self) -> None:
        """Close the environment, once."""
        if not self._closed:
            self._closed = True
            self.env.close()
