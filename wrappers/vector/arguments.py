"""The arguments of `TextVectorEnv`, checked and taken apart for each slot."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import gymnasium as gym

import agentgym_envs
from wrappers.vector.host import EnvFn

Answer = tuple[str, float, bool, bool, dict[str, Any]]
"""A slot's observation, reward, terminated, truncated and info. A reset's reward is 0."""


def chosen_slots(options: Mapping[str, Any] | None, num_envs: int) -> list[int]:
    """List the slots that `reset(options=options)` resets: all, or those given a task.

    Raises:
        ValueError: the options are no mapping, a list among them has not one entry per slot, or
            the tasks are several and no list.
    """
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise ValueError(
            f"options must be a dict such as {{'task_id': [..]}} or None, got {options!r:.80}"
        )
    for key, value in options.items():
        if isinstance(value, list):
            check_length(f"options[{key!r}]", value, num_envs)
    task_ids = options.get("task_id")
    if not isinstance(task_ids, list):
        if not (task_ids is None or isinstance(task_ids, str | Integral)):
            raise ValueError(
                "options['task_id'] must be one task for every slot or a list with one entry per "
                f"slot, got a {type(task_ids).__name__}: {task_ids!r:.80}"
            )
        return list(range(num_envs))
    return [index for index, task_id in enumerate(task_ids) if task_id is not None]


def check_length(name: str, values: Sequence[Any], num_envs: int) -> None:
    """Raise ValueError unless `values` holds one entry per slot."""
    if isinstance(values, str) or len(values) != num_envs:
        raise ValueError(
            f"{name} must hold one entry for each of the {num_envs} slots, got {values!r:.200}"
        )


def slot_options(index: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return one slot's options: its entry of each list, and the common values, without None."""
    mine = {key: v[index] if isinstance(v, list) else v for key, v in options.items()}
    return {key: value for key, value in mine.items() if value is not None}


def slot_seeds(seed: int | Sequence[int | None] | None, num_envs: int) -> Sequence[int | None]:
    """Give each slot its seed: from an int, `seed + index`."""
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, Integral):
        return [int(seed) + index for index in range(num_envs)]
    assert not isinstance(seed, int)  # mypy does not know that an int is Integral
    check_length("seed", seed, num_envs)
    return seed


def slot_env_fns(
    env_fns: str | Sequence[EnvFn], num_envs: int | None, env_kwargs: dict[str, Any]
) -> list[EnvFn]:
    """List the functions that make the slots' environments, from `TextVectorEnv`'s arguments.

    Raises:
        ValueError: `num_envs` or `env_fns` is not allowed, or they do not fit each other.
        TypeError: keyword arguments came with functions.
    """
    if num_envs is not None and num_envs < 1:
        raise ValueError(f"num_envs must be >= 1, got {num_envs}")
    if isinstance(env_fns, str):
        env_id = agentgym_envs.resolve_env_id(env_fns)
        # The spec, not its id: a worker knows nothing of what this process has registered.
        make: EnvFn = functools.partial(
            gym.make, gym.spec(env_id), disable_env_checker=True, **env_kwargs
        )
        return [make] * (1 if num_envs is None else num_envs)
    if env_kwargs:
        raise TypeError(
            f"keyword arguments {sorted(env_kwargs)} need an env id; "
            "functions hold their environment's arguments themselves"
        )
    fns = [] if callable(env_fns) else list(env_fns)
    if not fns or not all(callable(fn) for fn in fns):
        raise ValueError(
            f"env_fns must be an env id, or a list that holds a function per slot, such as "
            f"[make_env] * 4; got {env_fns!r:.200}"
        )
    if num_envs is not None and num_envs != len(fns):
        raise ValueError(
            f"num_envs={num_envs}, but there are {len(fns)} env_fns; leave num_envs out"
        )
    return fns
