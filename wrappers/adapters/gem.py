"""Our environments as GEM's (`gem.make`), with the package `gem-llm`."""

from __future__ import annotations

import copy
import random
from typing import Any

import gem
import gymnasium as gym

from agentgym_envs.core.spaces import FreeText
from agentgym_envs.registration.registry import registered_ids, resolve_env_id, short_env_name


class GemEnv(gem.Env):  # type: ignore[misc]
    """One of our environments, whose first observation begins with the instruction text.

    Args:
        env: a registered id or short name.
        seed: of the draws of tasks; GEM's vectors give one to each environment.
        **kwargs: the environment's keyword arguments.
    """

    def __init__(self, env: str, *, seed: int | None = None, **kwargs: Any) -> None:
        self._made_of = (env, kwargs)
        self._seed = seed
        self._env = gym.make(resolve_env_id(env), disable_env_checker=True, **kwargs)
        self._info: dict[str, Any] = {}

    def reset(
        self, seed: int | None = None, *, task_id: str | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode of the task that is named, or of one drawn by the seed."""
        own, self._seed = self._seed, None
        options = {} if task_id is None else {"task_id": task_id}
        observation, self._info = self._env.reset(
            seed=own if seed is None else seed, options=options
        )
        prompt: str = self._env.get_wrapper_attr("system_prompt")
        return f"{prompt}\n\n{observation}", self._info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn."""
        observation, reward, terminated, truncated, self._info = self._env.step(action)
        return observation, float(reward), terminated, truncated, self._info

    def sample_random_action(self) -> str:
        """Return one of the possible actions, or some text where they are not listed."""
        listed = self._info.get("available_actions")
        if not listed:
            return FreeText().sample()
        action: str = self._env.get_wrapper_attr("parser").format(random.choice(listed))
        return action

    def spawn(self, same_state: bool = False, **kwargs: Any) -> GemEnv:
        """Return another one, in the same state or before its first reset.

        Raises:
            ValueError: arguments come with `same_state`.
        """
        if same_state:
            if kwargs:
                raise ValueError(
                    f"a copy in the same state takes no other arguments, got {sorted(kwargs)}; "
                    "leave them or same_state out"
                )
            return copy.deepcopy(self)
        env, own = self._made_of
        return GemEnv(env, **{**own, **kwargs})

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def register_with_gem() -> list[str]:
    """Register our environments with GEM as `agentgym:TextCraft`, and return these names."""
    names = []
    for env_id in registered_ids():
        names.append(f"agentgym:{short_env_name(env_id)}")
        gem.register(names[-1], entry_point=GemEnv, env=env_id)
    return names
