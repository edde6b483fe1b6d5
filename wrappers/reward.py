"""A reward for success alone, where an environment rewards progress."""

from __future__ import annotations

from typing import Any

import gymnasium as gym


class SuccessReward(gym.Wrapper[str, str, str, str], gym.utils.RecordConstructorArgs):
    """Rewards the end of a successful episode with 1, and everything else with 0.

    A score that a wrong move takes back, as SciWorld's, teaches a policy that seldom succeeds not
    to try. `info["score"]` stays as it is.
    """

    def __init__(self, env: gym.Env[str, str]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn, with reward 0 or 1."""
        observation, _, terminated, truncated, info = self.env.step(action)
        is_won = (terminated or truncated) and bool(info["success"])
        return observation, float(is_won), terminated, truncated, info
