"""Checks of a scenario's attributes, observations, outcomes and moves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from numbers import Real
from types import NoneType
from typing import Any

from agentgym_envs.actions import ActionVerb
from agentgym_envs.arguments import whole_number
from agentgym_envs.core.outcome import INFO_KEYS, ExpertMove, Outcome
from agentgym_envs.core.tasks import TaskSet

_REQUIRED = ("instructions", "verbs", "default_max_turns")
"""The attributes that a scenario sets before `TextEnv.__init__` begins."""

_SET_BY_INIT = (
    "_text_env",
    "task_set",
    "split",
    "compat",
    "action_format",
    "actions_per_turn",
    "parser",
    "max_turns",
    "render_mode",
    "turns_left",
    "max_observation",
    "max_error",
    "observation_space",
    "action_space",
)
"""The attributes that `TextEnv.__init__` sets."""

# The concrete types are there for speed: `isinstance` takes them before the abstract ones.
_NUMBER: Any = (float, Real)
_MAPPING = (dict, Mapping)

_OF_A_SCENARIO: dict[str, Any] = {"success": bool, "score": _NUMBER, "is_valid_action": bool}
_OF_AN_OUTCOME: tuple[tuple[str, Any], ...] = (
    ("observation", str),
    ("reward", _NUMBER),
    ("terminated", bool),
    ("truncated", bool),
    ("info", _MAPPING),
    ("success", (NoneType, bool)),
    ("score", (NoneType, *_NUMBER)),
    ("is_valid", (NoneType, bool)),
)
_OF_TEXT_ENV = frozenset(INFO_KEYS) - set(_OF_A_SCENARIO)
_NOT_EXTRA = frozenset(INFO_KEYS) - {"score"}


def check_attributes(env: Any) -> None:
    """Raise `TypeError` unless a scenario has set the attributes that `TextEnv.__init__` reads."""
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


def check_play(env: Any, base: Any) -> None:
    """Check that actions reach a scenario's `play`, and that `play` reaches each of its verbs.

    Args:
        env: the environment.
        base: `TextEnv`.

    Raises:
        TypeError: it has neither `play` nor `apply`, its `play` stands over a shipped `apply` that
            never calls it, or an earlier verb reads the actions of a later one.
    """
    scenario = type(env)
    if scenario.apply is base.apply:
        if scenario.play is base.play:
            raise TypeError(
                f"{scenario.__name__} must write play(verb, **arguments), or apply(action)"
            )
        _check_shadowing(env)
        return
    play, apply = (
        next(owner for owner in scenario.__mro__ if name in vars(owner))
        for name in ("play", "apply")
    )
    if play is apply or not issubclass(play, apply):
        return
    # A user's own apply may call play in ways that its code does not show.
    is_shipped = apply.__module__.startswith("agentgym_envs.")
    if is_shipped and not {"play", "apply"} & set(vars(apply)["apply"].__code__.co_names):
        raise TypeError(
            f"{play.__name__}.play is never called, for {apply.__name__} reads actions in an apply "
            "of its own; write apply(action) in place of play"
        )


def _check_shadowing(env: Any) -> None:
    """Raise `TypeError` where an earlier verb reads whatever a later one may say."""
    verbs = [verb for verb in env.verbs if isinstance(verb, ActionVerb) and not verb.patterns]
    for index, verb in enumerate(verbs):
        # Values that no template holds as its own words.
        action = verb.fill(
            {name: "907563" if name in verb.integers else "qzxwv" for name in verb.parameters}
        )
        for earlier in verbs[:index]:
            if earlier.read(action) is not None:
                raise TypeError(
                    f"{type(env).__name__}: {verb.form!r} is never played, for {earlier.form!r} "
                    f"is read first; set {verb.name} before {earlier.name} in verbs, or reword one"
                )


def own_values(env: Any) -> list[Any]:
    """Return the values of the attributes that `TextEnv.__init__` sets, for `check_names`."""
    values = vars(env)
    return [values.get(name) for name in _SET_BY_INIT]


def check_names(env: Any, before: list[Any], methods: Set[str] = frozenset()) -> None:
    """Check that a scenario has used no name of `TextEnv`'s for something else.

    Args:
        env: the environment.
        before: its `own_values` before the scenario's code ran.
        methods: the names of `TextEnv`'s methods.

    Raises:
        TypeError: it has; the message names them.
    """
    pairs = zip(_SET_BY_INIT, before, own_values(env), strict=True)
    taken = [name for name, old, new in pairs if new is not old]
    taken += [name for name in methods & vars(env).keys() if not callable(vars(env)[name])]
    if taken:
        raise TypeError(name_taken(env, *sorted(taken)))


def name_taken(env: Any, *names: str) -> str:
    """Return the message for a scenario that uses names of `TextEnv`'s own."""
    attributes = " and ".join(f"self.{name}" for name in names)
    return (
        f"{type(env).__name__} sets {attributes}, which TextEnv uses itself; give yours another "
        f"name, such as self.game_{names[0].strip('_')}"
    )


def checked_task_set(env: Any, task_set: Any) -> TaskSet:
    """Return the given task set, or the environment's own.

    Raises:
        TypeError: there is none.
    """
    task_set = getattr(env, "task_set", None) if task_set is None else task_set
    if not isinstance(task_set, TaskSet):
        raise TypeError(
            f"{type(env).__name__} must set task_set as a class attribute, such as ListedTasks, or "
            f"pass it to super().__init__(); got {task_set!r:.80}"
        )
    return task_set


def check_beginning(env: Any, observation: Any) -> None:
    """Raise `TypeError` unless `begin` set a goal and returned an observation of a named source."""
    scenario = type(env).__name__
    if not isinstance(getattr(env, "goal", None), str):
        raise TypeError(f"{scenario}.begin must set self.goal, the goal in words, a str")
    if not isinstance(getattr(env, "source", None), str):
        raise TypeError(
            f"{scenario} must set source, a str that names the data of its tasks with a version, "
            "such as 'guess/1'"
        )
    if not isinstance(observation, str):
        raise TypeError(
            f"{scenario}.begin must return the first observation, a str, got "
            f"{type(observation).__name__}: {observation!r:.80}"
        )


def checked_actions_per_turn(env: Any, value: Any, *, lists_calls: bool) -> int:
    """Return a checked `actions_per_turn`. With `lists_calls` the verbs may take any text.

    Raises:
        ValueError: it is no number of actions, or the environment cannot play several a turn.
    """
    number: int = whole_number("actions_per_turn", value, least=1)
    if number > 1 and env.compat is not None:
        raise ValueError(
            f"compat={env.compat!r} plays one action a turn as AgentGym does, got "
            f"actions_per_turn={number}; leave one of the two out"
        )
    if number > 1 and not lists_calls and not any(verb.is_distinct for verb in env.verbs):
        raise ValueError(
            f"{type(env).__name__} takes any text as an action, so several cannot be told apart, "
            f"got actions_per_turn={number}; leave it out"
        )
    return number


def checked_outcome(outcome: Any, method: str) -> Mapping[str, Any]:
    """Return the keys of `info` that a scenario's outcome sets, fields included.

    Args:
        outcome: the value that the method returned.
        method: the class and the method that returned it, for the message.

    Raises:
        TypeError: it is no `Outcome`, or a field of it is of another type.
        ValueError: the reward or the score is not a number that counts, or `info` holds a key of
            `TextEnv`'s own.
    """
    if not isinstance(outcome, Outcome):
        raise TypeError(
            f"{method} must return an Outcome, got {type(outcome).__name__}: {outcome!r:.80}"
        )
    for value, (field, kinds) in zip(outcome, _OF_AN_OUTCOME, strict=True):
        if not isinstance(value, kinds):
            raise _wrong_type(method, field, value, kinds)
    if not math.isfinite(outcome.reward):
        raise ValueError(f"{method}: the reward must be a finite number, got {outcome.reward!r}")
    if outcome.info:
        _check_keys(outcome.info, method)
    info = outcome.as_info()
    if not 0 <= info.get("score", 0) <= 1:
        raise ValueError(f"{method}: the score must be in 0..1, got {info['score']!r}")
    return info


def _check_keys(info: Mapping[str, Any], method: str) -> None:
    for key, kinds in _OF_A_SCENARIO.items():
        if key in info and not isinstance(info[key], kinds):
            raise _wrong_type(method, f"info[{key!r}]", info[key], kinds)
    if not _OF_TEXT_ENV.isdisjoint(info):
        raise ValueError(
            f"{method}: info must not hold {', '.join(sorted(_OF_TEXT_ENV & set(info)))}, "
            f"which TextEnv sets; of INFO_KEYS an Outcome may hold {', '.join(_OF_A_SCENARIO)}"
        )


def check_extra_info(info: Any, scenario: str) -> None:
    """Check the mapping that a scenario's `extra_info` returned.

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
    if "score" in info:
        score: Any = info["score"]
        if not isinstance(score, _NUMBER):
            raise TypeError(
                f"{scenario}.extra_info: score must be a number, got {type(score).__name__}: "
                f"{score!r:.80}"
            )
        if not 0 <= score <= 1:
            raise ValueError(f"{scenario}.extra_info: the score must be in 0..1, got {score!r}")


def _wrong_type(method: str, field: str, value: Any, kinds: Any) -> TypeError:
    kind = kinds[-1] if isinstance(kinds, tuple) else kinds
    name = {Real: "number", Mapping: "mapping"}.get(kind, kind.__name__)
    return TypeError(
        f"{method}: {field} of an Outcome must be a {name}, got "
        f"{type(value).__name__}: {value!r:.80}"
    )


def check_move(move: Any, scenario: str) -> None:
    """Raise `TypeError` unless `expert_moves` yielded an `ExpertMove`."""
    if not isinstance(move, ExpertMove):
        raise TypeError(
            f"{scenario}.expert_moves must yield ExpertMove, got {type(move).__name__}: "
            f"{move!r:.80}"
        )
