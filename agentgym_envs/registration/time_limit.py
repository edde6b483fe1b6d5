"""Names Gymnasium's `TimeLimit` in `info["truncated_by"]`."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import TimeLimit


def name_time_limit(env: gym.Env[str, str]) -> gym.Env[str, str]:
    """Wrap the environment inside the `TimeLimit` of `gym.make(..., max_episode_steps=...)`."""
    return NameTimeLimit(env) if isinstance(env, TimeLimit) else env


class NameTimeLimit(gym.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Says `"time_limit"` where the `TimeLimit` within truncates, and not the environment."""

    def __init__(self, env: gym.Env[str, str]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)

    @property
    def env_kwargs(self) -> dict[str, Any]:
        """The arguments of `gymnasium.make`, this limit among them."""
        limit = None if self.spec is None else self.spec.max_episode_steps
        return {**self.env.get_wrapper_attr("env_kwargs"), "max_episode_steps": limit}

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Play one turn."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if truncated and info.get("truncated_by") is None:
            info["truncated_by"] = "time_limit"
        return observation, reward, terminated, truncated, info
