"""Our environments as SkyRL's (`skyrl_gym.make`), with the package `skyrl-gym`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
from skyrl_gym.envs import register
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from agentgym_envs.registration.registry import resolve_env_id

SKYRL_ID = "agentgym"


class SkyRLEnv(BaseTextEnv):  # type: ignore[misc]
    """One of our environments as SkyRL plays it: messages in, messages out.

    Args:
        env_config: `env`, a registered id or short name, and the environment's keyword arguments
            under `env_kwargs`.
        extras: columns of the data set's row: `task_id`, and `env` and `env_kwargs` where they
            differ from those of `env_config`.

    Raises:
        ValueError: neither names an environment.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        row = {**dict(env_config or {}), **dict(extras or {})}
        if "env" not in row:
            raise ValueError(
                "no environment is named; put env, such as 'TextCraft', into env_config or into "
                f"the row's columns, got {sorted(row)}"
            )
        kwargs = dict(row.get("env_kwargs") or {})
        self._env = gym.make(resolve_env_id(str(row["env"])), disable_env_checker=True, **kwargs)
        self._task_id = row.get("task_id")
        self.max_turns = self._env.get_wrapper_attr("max_turns")
        self._info: dict[str, Any] = {}

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Start the row's episode.

        Args:
            prompt: the row's messages, which stand behind the instruction text.

        Returns:
            the first messages, and `info`.
        """
        options = {} if self._task_id is None else {"task_id": self._task_id}
        observation, self._info = self._env.reset(options=options)
        self.turns = 0
        system = {"role": "system", "content": self._env.get_wrapper_attr("system_prompt")}
        rest = [message for message in prompt if message.get("content")]
        return [system, *rest, {"role": "user", "content": observation}], self._info

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Play one turn."""
        observation, reward, terminated, truncated, self._info = self._env.step(action)
        self.turns += 1
        done = terminated or truncated
        return BaseTextEnvStepOutput(
            observations=[] if done else [{"role": "user", "content": observation}],
            reward=float(reward),
            done=done,
            metadata={**self._info, "last_observation": observation},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Return the metrics that SkyRL averages over episodes."""
        return {key: float(self._info[key]) for key in ("success", "score") if key in self._info}

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def register_with_skyrl() -> None:
    """Register our environments with SkyRL under the id `agentgym`."""
    register(id=SKYRL_ID, entry_point="wrappers.adapters.skyrl:SkyRLEnv")
