"""Replays recorded actions in a second process, where strings hash otherwise.

The order of a set of strings differs from process to process (`PYTHONHASHSEED`), and never within
one. The second process makes the environment from its class's name, so one that has no name to be
imported by, or arguments that cannot be pickled, cannot be played there.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import gymnasium as gym

from agentgym_envs.checking.probing import ConformanceError
from agentgym_envs.errors import EnvFailure, described

Episode = tuple[str, Sequence[str]]
"""A task id, and the actions to play."""

_LIMIT_S = 600
_START = "from agentgym_envs.checking.second_process import _answer; _answer()"
_logger = logging.getLogger(__name__)


def replay_in_subprocess(
    env: str | Callable[..., Any], kwargs: Mapping[str, Any], episodes: Sequence[Episode]
) -> list[list[Any]] | None:
    """Replay episodes in a process with another hash seed.

    Args:
        env: a registered id, or what makes the environment.
        kwargs: its keyword arguments.
        episodes: what is played.

    Returns:
        For each episode `[observation, info]` and then the five of each step, as JSON gives them
        back. None where the environment cannot be made there; the log says why.

    Raises:
        EnvFailure: its machinery broke there.
        ConformanceError: it raised something else there, or did not end.
    """
    if isinstance(env, str):
        spec = gym.spec(env)
        env, kwargs = spec.entry_point or "", {**spec.kwargs, **kwargs}
    name = env if isinstance(env, str) else _import_name(env)
    try:
        order = pickle.dumps((name, dict(kwargs), list(episodes)))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        _warn_of_omission(f"its arguments cannot be pickled: {error}")
        return None
    if name is None or name.startswith("__main__:"):
        _warn_of_omission(f"{env!r} cannot be imported by a name")
        return None
    reply = _ask(order)
    if "left_out" in reply:
        _warn_of_omission(reply["left_out"])
        return None
    if "failed" in reply:
        raise EnvFailure(reply["failed"])
    if "broke" in reply:
        raise ConformanceError(
            f"a second process with another PYTHONHASHSEED must play the same; it {reply['broke']}"
        )
    replays: list[list[Any]] = reply["episodes"]
    return replays


def _ask(order: bytes) -> dict[str, Any]:
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    hash_seed = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    try:
        done = subprocess.run(
            [sys.executable, "-c", _START],
            input=order,
            capture_output=True,
            timeout=_LIMIT_S,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": hash_seed},
        )
    except subprocess.TimeoutExpired:
        return {"broke": f"did not end within {_LIMIT_S} s"}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        errors = done.stderr.decode("utf-8", "replace").split("\n")
        last = next((line for line in reversed(errors) if line.strip()), "nothing")
        return {"broke": f"ended with status {done.returncode} and said: {last}"}
    reply: dict[str, Any] = json.loads(lines[-1])
    return reply


def _answer() -> None:
    """Play the orders of standard input, in the second process."""
    with contextlib.redirect_stdout(sys.stderr):
        reply = _replay(*pickle.load(sys.stdin.buffer))
    print(json.dumps(reply), flush=True)


def _replay(name: str, kwargs: dict[str, Any], episodes: Sequence[Episode]) -> dict[str, Any]:
    try:
        make = _imported(name)
    except (ImportError, AttributeError) as error:
        return {"left_out": f"{name} cannot be imported there: {error}"}
    try:
        env = make(**kwargs).unwrapped
        replays = []
        for task_id, actions in episodes:
            episode = [env.reset(options={"task_id": task_id})]
            episode += [env.step(action) for action in actions]
            replays.append(episode)
        env.close()
    except EnvFailure as failure:
        return {"failed": str(failure)}
    except Exception as error:
        return {"broke": f"raised {described(error)}"}
    return {"episodes": replays}


def _import_name(make: Callable[..., Any]) -> str | None:
    module, path = getattr(make, "__module__", ""), getattr(make, "__qualname__", "<>")
    return None if "<" in path else f"{module}:{path}"


def _imported(name: str) -> Callable[..., Any]:
    module, _, path = name.partition(":")
    value: Any = importlib.import_module(module)
    for part in path.split("."):
        value = getattr(value, part)
    return cast(Callable[..., Any], value)


def _warn_of_omission(reason: str) -> None:
    _logger.warning("not played under another PYTHONHASHSEED: %s", reason)
