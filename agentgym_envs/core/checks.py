"""Checks what a scenario gives `TextEnv`: its attributes, observations, outcomes and moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from agentgym_envs.core.outcome import INFO_KEYS, ExpertMove, Outcome

_REQUIRED = ("instructions", "verbs", "default_max_turns")
"""What a scenario must have set when `TextEnv.__init__` begins."""

# The concrete types are there for speed: `isinstance` takes them before the abstract ones.
_NUMBER: Any = (float, Real)
_MAPPING = (dict, Mapping)

_OF_A_SCENARIO: dict[str, Any] = {"success": bool, "score": _NUMBER, "is_valid_action": bool}
_OF_TEXT_ENV = frozenset(INFO_KEYS) - set(_OF_A_SCENARIO)
_NOT_EXTRA = frozenset(INFO_KEYS) - {"score"}


def check_attributes(env: Any) -> None:
    """Raise `TypeError` unless a scenario has set what `TextEnv.__init__` reads."""
    missing = [name for name in _REQUIRED if not hasattr(env, name)]
    if missing:
        raise TypeError(
            f"{type(env).__name__} must set {', '.join(missing)}: as class attributes, or before "
            "it calls super().__init__()"
        )
    names = [getattr(verb, "name", verb) for verb in env.verbs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TypeError(
            f"{type(env).__name__}: a function call tells verbs apart by their names, and "
            f"{', '.join(twice)} is the name of several"
        )


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
    kinds: Any
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


def checked_extra_info(info: Any, scenario: str) -> Mapping[str, Any]:
    """Return what a scenario's `extra_info` returned.

    Raises:
        TypeError: it is no mapping, or its `score` no number.
        ValueError: it holds a key of `INFO_KEYS` but `score`, or the score is not in 0..1.
    """
    if not isinstance(info, _MAPPING):
        raise TypeError(
            f"{scenario}.extra_info must return a mapping, got {type(info).__name__}: {info!r:.80}"
        )
    if not _NOT_EXTRA.isdisjoint(info):
        raise ValueError(
            f"{scenario}.extra_info must not hold {', '.join(sorted(_NOT_EXTRA & set(info)))}: of "
            "INFO_KEYS it may hold score; an Outcome has the others that a scenario sets"
        )
    score: Any = info.get("score", 0)
    if not isinstance(score, _NUMBER):
        raise TypeError(
            f"{scenario}.extra_info: score must be a number, got {type(score).__name__}: "
            f"{score!r:.80}"
        )
    if not 0 <= score <= 1:
        raise ValueError(f"{scenario}.extra_info: the score must be in 0..1, got {score!r}")
    return info  # type: ignore[no-any-return]


def _wrong_type(scenario: str, field: str, value: Any, kinds: Any) -> TypeError:
    name = {_NUMBER: "number", _MAPPING: "mapping"}.get(kinds) or kinds.__name__
    return TypeError(
        f"{scenario}.apply: {field} of an Outcome must be a {name}, got "
        f"{type(value).__name__}: {value!r:.80}"
    )


def check_move(move: Any, scenario: str) -> None:
    """Raise `TypeError` unless `expert_moves` yielded an `ExpertMove`."""
    if not isinstance(move, ExpertMove):
        raise TypeError(
            f"{scenario}.expert_moves must yield ExpertMove, got {type(move).__name__}: "
            f"{move!r:.80}"
        )
