"""Defines what one turn gives: a scenario's outcome, an expert's move, and the keys of `info`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

INFO_KEYS: tuple[str, ...] = (
    "task_id",  # str
    "subtask",  # str
    "split",  # str
    "source",  # str: the data behind the ids, with its version
    "goal",  # str
    "success",  # bool
    "score",  # float in 0..1: progress
    "is_valid_action",  # bool; True at reset
    "available_actions",  # list[str] | None
    "turn",  # int: steps taken in this episode
    "truncated_by",  # None | "env_limit" | "max_turns" | "horizon" | "time_limit"
)
"""The keys that `info` always holds; a scenario may add its own."""

# The concrete types are there for speed: `isinstance` takes them before the abstract ones.
_NUMBER = (float, Real)
_MAPPING = (dict, Mapping)

_OF_A_SCENARIO = {"success": bool, "score": _NUMBER, "is_valid_action": bool}
_OF_TEXT_ENV = frozenset(INFO_KEYS) - set(_OF_A_SCENARIO)

UNSCORED_KEY = "unscored"
"""A key that a scenario may add, bool: the episode is over, and nobody knows if it succeeded.

Whoever records episodes gives it the status `"failed"`, so that it counts neither as a success nor
as a failure.
"""

VERDICT_KEY = "verdict"
"""A key that a scenario may add, str: why the episode is no success, a line for each reason; empty
while it goes on. It is for people, and is in the record of the episode; a policy never reads it."""

UNSCORED = "nobody could tell whether the task was done; it needs a judge"
"""The error of such a record."""


class Outcome(NamedTuple):
    """What `TextEnv.apply` returns: the scenario's answer to one action.

    Attributes:
        observation: what the policy reads next.
        reward: this step's reward.
        terminated: the game is over, won or lost.
        truncated: the simulator's own limit was met.
        info: values for `success`, `score`, `is_valid_action`, and keys of the scenario's own.
            Left out, `success` is False, `score` is 1.0 on success and else what it was, and
            `is_valid_action` is True.
    """

    observation: str
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: Mapping[str, Any] = {}


def check_beginning(observation: Any, goal: Any, scenario: str) -> None:
    """Raise `TypeError` unless a scenario's `begin` set a goal and returned an observation."""
    if not isinstance(goal, str):
        raise TypeError(f"{scenario}.begin must set self.goal, the goal in words, a str")
    if not isinstance(observation, str):
        raise TypeError(
            f"{scenario}.begin must return the first observation, a str, got "
            f"{type(observation).__name__}: {observation!r:.80}"
        )


def check_outcome(outcome: Any, scenario: str) -> None:
    """Check what a scenario's `apply` returned.

    Args:
        outcome: the returned value.
        scenario: the class's name, for the message.

    Raises:
        TypeError: it is no `Outcome`, or a field of it is of another type.
        ValueError: the reward or the score is not a number that counts, or `info` holds a key of
            `TextEnv`'s own.
    """
    if not isinstance(outcome, Outcome):
        raise TypeError(
            f"{scenario}.apply must return an Outcome, got {type(outcome).__name__}: "
            f"{outcome!r:.80}"
        )
    observation, reward, terminated, truncated, info = outcome
    for field, value, kinds in (
        ("observation", observation, str),
        ("reward", reward, _NUMBER),
        ("terminated", terminated, bool),
        ("truncated", truncated, bool),
        ("info", info, _MAPPING),
    ):
        if not isinstance(value, kinds):
            raise _wrong_type(scenario, field, value, kinds)
    for key, kinds in _OF_A_SCENARIO.items():
        if key in info and not isinstance(info[key], kinds):
            raise _wrong_type(scenario, f"info[{key!r}]", info[key], kinds)
    if not math.isfinite(reward):
        raise ValueError(f"{scenario}.apply: the reward must be a finite number, got {reward!r}")
    if not 0 <= info.get("score", 0) <= 1:
        raise ValueError(f"{scenario}.apply: the score must be in 0..1, got {info['score']!r}")
    if not _OF_TEXT_ENV.isdisjoint(info):
        raise ValueError(
            f"{scenario}.apply: info must not hold {', '.join(sorted(_OF_TEXT_ENV & set(info)))}, "
            f"which TextEnv sets; of INFO_KEYS an Outcome may hold {', '.join(_OF_A_SCENARIO)}"
        )


def _wrong_type(scenario: str, field: str, value: Any, kinds: Any) -> TypeError:
    name = {_NUMBER: "number", _MAPPING: "mapping"}.get(kinds) or kinds.__name__
    return TypeError(
        f"{scenario}.apply: {field} of an Outcome must be a {name}, got "
        f"{type(value).__name__}: {value!r:.80}"
    )


class ExpertMove(NamedTuple):
    """One move of an expert: a plain action, and why, in one or a few lines."""

    action: str
    thought: str = ""
