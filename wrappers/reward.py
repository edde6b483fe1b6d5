"""Pays success alone, where an environment pays for the way to it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym


class SuccessReward(gym.Wrapper[str, str, str, str], gym.utils.RecordConstructorArgs):
    """Pays 1 when an episode ends in success, and 0 for everything else.

    A score that a wrong move takes back, as SciWorld's, teaches a policy that seldom succeeds not
    to try. `info["score"]` stays as it is.
    """

    def __init__(self, env: gym.Env[str, str]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn; its reward is 0 or 1."""
        observation, _, terminated, truncated, info = self.env.step(action)
        is_won = (terminated or truncated) and bool(info["success"])
        return observation, float(is_won), terminated, truncated, info
