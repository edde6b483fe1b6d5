"""Starts of episodes before the end of an expert's play, for a reverse curriculum.

After reverse curriculum generation (arXiv 1707.05300) and TCOD's backward schedule (arXiv
2604.24005). Deviations:
1. The states to start from are those of one expert's play, not of random steps around a goal.
2. A state is reached by playing the expert's actions again, as `TextEnv.restore` does, through all
   wrappers. So a policy can read the turns before it, in which the task may stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from agentgym_envs.arguments import whole_number
from agentgym_envs.core import TextEnv
from agentgym_envs.errors import EnvFailure, NoExpert
from agentgym_envs.trajectories.trajectory import Turn

START = "start"
"""The reset option of the turns before the expert's end at which an episode starts."""
PREFIX = "prefix"
"""The key of a reset's `info` with the expert's turns up to there, a list of `Turn`."""
MAX_CACHED = 4096
"""Tasks whose expert's actions are cached."""


class ExpertStarts:
    """Resets an environment to a state some turns before the end of the expert's play.

    The actions of the expert are cached by task: the same task has the same ones.
    """

    def __init__(self) -> None:
        self._actions: dict[str, tuple[str, ...]] = {}

    def reset(
        self,
        env: gym.Env[str, str],
        turns: int,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode with the expert's turns, all but the last ones.

        The task's own start is that of tasks with no more turns, and of those that the expert does
        not solve. A horizon counts the turns that follow.

        Args:
            env: a text environment, wrapped or not.
            turns: of the expert that are left out, 1 or more.
            seed: see `TextEnv.reset`.
            options: see `TextEnv.reset`.

        Returns:
            observation and info, as of a reset. `info["prefix"]` holds the expert's turns,
            `info["turn"]` their number.

        Raises:
            ValueError: an option is not allowed.
            EnvFailure: the machinery broke, or the expert's turns ended the episode this time.
        """
        turns = whole_number(f"options[{START!r}]", turns, least=1, besides=" or None")
        options = dict(options or {})
        horizon = options.pop("horizon", None)
        if horizon is not None:
            horizon = whole_number("options['horizon']", horizon, least=1, besides=" or None")
        actions = self._actions.get(str(options.get("task_id")))
        if actions is None:
            _, info = env.reset(seed=seed, options=options)
            seed, options["task_id"] = None, info["task_id"]
            actions = self._actions_of(env, info["task_id"])
        actions = actions[:-turns]
        if horizon is not None:
            options["horizon"] = horizon + len(actions)
        return play_prefix(env, actions, *env.reset(seed=seed, options=options))

    def _actions_of(self, env: gym.Env[str, str], task_id: str) -> tuple[str, ...]:
        if task_id not in self._actions:
            if len(self._actions) >= MAX_CACHED:
                del self._actions[next(iter(self._actions))]
            self._actions[task_id] = expert_actions(env)
        return self._actions[task_id]


def expert_actions(env: gym.Env[str, str]) -> tuple[str, ...]:
    """Play the expert to its end, past all wrappers, and return its actions, none if it fails."""
    inner = env.unwrapped
    assert isinstance(inner, TextEnv)
    actions: list[str] = []
    is_solved = False
    try:
        for action in inner.expert():
            actions.append(action)
            is_solved = inner.step(action)[4]["success"]
    except NoExpert:
        return ()
    return tuple(actions) if is_solved else ()


def play_prefix(
    env: gym.Env[str, str], actions: Sequence[str], observation: str, info: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Play the first turns of an episode, and return the observation and the info after them.

    Raises:
        EnvFailure: one of the turns ends the episode.
    """
    prefix: list[Turn] = []
    for action in actions:
        read = observation
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            raise EnvFailure(
                f"the expert's turn {len(prefix) + 1} ended {info['task_id']} before turn "
                f"{len(actions)}, at which the episode starts; a start needs an environment that "
                "always answers the same actions in the same way, and wrappers that end no episode"
            )
        is_valid, score = info["is_valid_action"], info["score"]
        prefix.append(Turn(read, action, 0.0, is_valid, score, trained=False, action=action))
    return observation, {**info, PREFIX: prefix}
