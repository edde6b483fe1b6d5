"""Checks a trainer's reward functions: their parameters, results and metrics."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from agentgym_envs.errors import did_you_mean
from trainers.credit.rewards import (
    RewardFunc,
    agent_reward,
    invalid_action_penalty,
    reward_columns,
)
from trainers.metrics import RESERVED

COLUMNS = (
    *("prompts", "completions", "completion_ids", *reward_columns([])),
    *("trainer_state", "log_metric", "log_extra"),
)
"""The arguments of every reward function: TRL's columns and ours."""


@dataclass(frozen=True)
class RewardFunctions:
    """The reward functions in a run's record.

    Attributes:
        reward_funcs: their names, in the order of `reward_weights`.
    """

    reward_funcs: list[str]

    def plan(self, weights: Sequence[float] | None) -> str:
        """Return the weighted sum in words, empty for the episode's return alone."""
        if self.reward_funcs == [agent_reward.__name__]:
            return ""
        factors = [1.0] * len(self.reward_funcs) if weights is None else weights
        terms = zip(factors, self.reward_funcs, strict=True)
        return " + ".join(name if factor == 1 else f"{factor:g} {name}" for factor, name in terms)


def reward_list(
    given: RewardFunc | Sequence[RewardFunc] | None,
    *,
    penalty: float = 0.0,
    columns: Collection[str] = (),
) -> list[RewardFunc]:
    """Return a trainer's reward functions, which check their results at each call.

    Args:
        given: one or several, by default the episode's return. A reward model, or its name, is
            returned unchanged, for TRL to load.
        penalty: charged for every invalid action, by a further function at the end.
        columns: further columns of the data set, which TRL passes on.

    Raises:
        TypeError: one is not a function, or cannot be called with the columns.
        ValueError: there are none.
    """
    functions: Any = agent_reward if given is None else given
    if callable(functions) or isinstance(functions, str):
        functions = [functions]
    if not isinstance(functions, Sequence):
        raise TypeError(f"reward_funcs must be a function or several, got {given!r:.60}")
    if not functions:
        raise ValueError("reward_funcs is empty; leave it out for the episode's return")
    checked = [_checked(function, (*COLUMNS, *columns)) for function in functions]
    return [*checked, invalid_action_penalty(penalty)] if penalty else checked


def _checked(function: Any, columns: Collection[str]) -> Any:
    """Return a reward function that raises ValueError if its result is not a list of numbers."""
    if isinstance(function, str | nn.Module) or function is agent_reward:
        return function
    if not callable(function):
        raise TypeError(f"reward_funcs must hold functions, got {function!r:.60}")
    plain = function
    while isinstance(plain, functools.partial):
        plain = plain.func
    name = getattr(plain, "__name__", type(plain).__name__)  # an object's is its class's
    _check_call(function, name, columns)
    checked: Callable[..., Any]

    if any(map(inspect.iscoroutinefunction, (plain, type(plain).__call__))):

        async def checked(**given: Any) -> list[float | None]:
            rewards = await function(**_with_checked_names(name, given))
            return _numbers(name, rewards, len(given["prompts"]))

    else:

        def checked(**given: Any) -> list[float | None]:
            rewards = function(**_with_checked_names(name, given))
            return _numbers(name, rewards, len(given["prompts"]))

    functools.update_wrapper(checked, function)
    checked.__name__ = name
    return checked


def _check_call(function: Callable[..., Any], name: str, columns: Collection[str]) -> None:
    """Check that a function takes the columns as keyword arguments."""
    try:
        parameters: Mapping[str, inspect.Parameter] = inspect.signature(function).parameters
    except ValueError:  # not written in Python
        return
    for own, parameter in parameters.items():
        is_variadic = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if not is_variadic and parameter.default is parameter.empty and own not in columns:
            hint = did_you_mean(own, columns, otherwise=f"given are {', '.join(columns)}")
            raise TypeError(f"the reward function {name!r} asks for {own!r}{hint}")
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        raise TypeError(
            f"the reward function {name!r} is given more than it asks for; end its parameters with "
            "**columns"
        )


def _with_checked_names(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with a `log_metric` that raises ValueError on the trainer's keys."""
    if "log_metric" not in given:
        return given
    log = given["log_metric"]

    def log_metric(key: str, value: float) -> None:
        if key in RESERVED:
            raise ValueError(
                f"the reward function {name!r} logs {key!r}, which is a metric of the trainer; "
                "choose another name, such as "
                f"{name + '/' + key.rpartition('/')[2]!r}"
            )
        log(key, value)

    return {**given, "log_metric": log_metric}


def _numbers(name: str, rewards: Any, count: int) -> list[float | None]:
    """Return a reward function's result as a list: a number or None for each episode.

    Raises:
        ValueError: it is something else.
    """
    try:
        if isinstance(rewards, str):
            raise TypeError("a text")
        values = [None if reward is None else _number(reward) for reward in rewards]
    except (TypeError, ValueError):
        values = []
    if len(values) != count:
        raise ValueError(
            f"the reward function {name!r} must return a list of {count} numbers, one for each "
            f"episode, or None for one that is to train nothing; got {rewards!r:.80}"
        )
    return values


def _number(reward: Any) -> float:
    if isinstance(reward, str):
        raise TypeError("a text")
    return float(reward)
