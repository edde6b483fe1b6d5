"""Plays a recorded episode again in its environment, and checks that it is the same one.

Environments are deterministic, so what they show beyond their text can be had again from a task id
and the actions.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.error import Error as GymnasiumError

import agentgym_envs  # noqa: F401  registers the ids
from agentgym_envs.actions import ACTION_FORMATS, CALL_FORMATS
from agentgym_envs.core import COMPATIBILITIES, TextEnv
from agentgym_envs.core.text import remove_turn_notice
from agentgym_envs.errors import EnvFailure
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.recorded import saved_env_kwargs

_WITHOUT_REPLAY = ("action_format", "compat", "max_turns", "render_mode", "split", "tasks")
_playing = threading.Lock()

Look = Callable[[Any, dict[str, Any]], Any]


class NotReplayed(Exception):
    """The episode cannot be replayed, for the reason in the message."""


def replay(
    trajectory: Trajectory, folder: str | Path | None, look: Look
) -> tuple[TextEnv, list[Any]]:
    """Play an episode again, and look at the environment before each turn and after the last.

    Args:
        trajectory: the episode.
        folder: where its file is.
        look: is called with the unwrapped environment and its info.

    Returns:
        The environment as the episode left it, and the results of `look`, one more than turns.

    Raises:
        NotReplayed: there is no such environment here, or it answers otherwise.
    """
    # One at a time: environments are kept from episode to episode.
    with _playing:
        env = _environment(trajectory, saved_env_kwargs(folder, trajectory.env_id))
        views, differing = _play_again(env, trajectory, look)
        if views is not None:
            return env, views
        where = f"answers turn {differing}" if differing else "begins"
        raise NotReplayed(
            f"The environment {where} otherwise than it is recorded, as another version does, or "
            "one with wrappers, so there are no pictures"
        )


def _play_again(env: TextEnv, trajectory: Trajectory, look: Look) -> tuple[list[Any] | None, int]:
    """Return the views, or None and the number of the turn with another observation."""
    turns = trajectory.turns
    first, *later = [turn.observation for turn in turns] + [trajectory.final_observation]
    try:
        observation, info = env.reset(options={"task_id": trajectory.task_id})
        if remove_turn_notice(observation) != remove_turn_notice(first):
            return None, 0
        views = [look(env, info)]
        for number, (turn, expected) in enumerate(zip(turns, later, strict=True), 1):
            observation, _, terminated, truncated, info = env.step(turn.action)
            # The record's turn limit, of which the last turns' observations speak, may be another.
            if remove_turn_notice(observation) != remove_turn_notice(expected):
                return None, number
            views.append(look(env, info))
            if (terminated or truncated) and number < len(turns):
                return None, number
    except (ValueError, EnvFailure, GymnasiumError) as error:
        raise NotReplayed(f"The episode cannot be played again here: {error}") from error
    return views, 0


def _environment(trajectory: Trajectory, kwargs: Mapping[str, Any]) -> TextEnv:
    """Return an environment whose system prompt equals the recorded one."""
    for env in _candidates(trajectory, kwargs):
        if env.system_prompt == trajectory.system_prompt:
            if env.source != trajectory.source:
                raise NotReplayed(
                    f"The episode was played on {trajectory.source!r}, and here is {env.source!r}"
                )
            env.max_turns = len(trajectory.turns) + 1
            return env
    raise NotReplayed(
        "No environment here gives the system prompt that was recorded, so none is replayed; "
        "arguments of environments are read from the run.json or cell.json beside the file"
    )


def _candidates(trajectory: Trajectory, kwargs: Mapping[str, Any]) -> Iterator[TextEnv]:
    further = {key: value for key, value in kwargs.items() if key not in _WITHOUT_REPLAY}
    for compat, action_format in product(COMPATIBILITIES, ACTION_FORMATS):
        is_several = further.get("actions_per_turn", 1) > 1
        if compat is not None and (action_format in CALL_FORMATS or is_several):
            continue  # which no environment plays
        options = {**further, "compat": compat, "action_format": action_format}
        try:
            yield _made(trajectory.env_id, json.dumps(options, sort_keys=True))
        except (GymnasiumError, ImportError, ValueError, TypeError, OSError) as error:
            raise NotReplayed(f"{trajectory.env_id} cannot be made here: {error}") from error


@lru_cache(maxsize=16)
def _made(env_id: str, options: str) -> TextEnv:
    env = gym.make(env_id, disable_env_checker=True, **json.loads(options)).unwrapped
    if not isinstance(env, TextEnv):
        raise ValueError("it is no TextEnv")
    return env
