"""Checks the JSON values of trajectories, and names the errors of one."""

from __future__ import annotations

from math import isfinite
from types import NoneType
from typing import Any

_TEXT, _NUMBER, _WHOLE = (str,), (int, float), (int,)
_OF_EPISODE: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("env_id", "task_id"), _TEXT),
    **dict.fromkeys(("subtask", "split", "source", "goal", "system_prompt"), _TEXT),
    **dict.fromkeys(("final_observation", "status", "policy", "verdict", "judgements"), _TEXT),
    **dict.fromkeys(("truncated_by", "error"), (str, NoneType)),
    **{"env_kwargs": (NoneType, dict), "horizon": (NoneType, int)},
    **{"success": (bool,), "score": _NUMBER, "global_step": _WHOLE, "traces": (list,)},
}
_OF_TURN: dict[str, tuple[type, ...]] = {
    **{"observation": _TEXT, "completion": _TEXT, "reward": _NUMBER, "is_valid_action": (bool,)},
    **{"score": _NUMBER, "num_tokens": _WHOLE, "trained": (bool,), "action": _TEXT},
    **{"call": (NoneType, dict), "weights_step": (NoneType, int)},
}
_OF_CALL: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("finish_reason", "reasoning"), _TEXT),
    **dict.fromkeys(("prompt_tokens", "cached_tokens", "retries"), _WHOLE),
    **{"seconds": _NUMBER, "cost": (NoneType, int, float), "is_refusal": (bool,)},
}
_STATUSES = ("terminated", "truncated", "failed")
_OF_TRACE = ("prompt_ids", "completion_ids", "action_mask", "logprobs", "advantages")
_TOO_LARGE = 1 << 63
"""No count comes near it, and whole numbers of hundreds of digits are no floats."""
_LARGEST_VOCABULARY = 1 << 31
_IN_WORDS: dict[type, str] = {
    **{str: "a text", bool: "true or false", int: "a whole number", float: "a number"},
    **{list: "a list", dict: "an object", NoneType: "null"},
}


def schema_problem(record: Any) -> str | None:
    """Return in words why JSON values are not those of a trajectory, or None where they are.

    Values that may be left out are checked where they are there.
    """
    if not isinstance(record, dict):
        return f"a JSON object is expected, got {type(record).__name__}"
    problem = _problem_in(record, _OF_EPISODE, needed=("env_id", "task_id"))
    if problem:
        return problem
    if record.get("status", _STATUSES[0]) not in _STATUSES:
        return f"status must be one of {', '.join(_STATUSES)}, got {record['status']!r:.40}"
    turns = record.get("turns")
    if not isinstance(turns, list):
        actual = f"got {turns!r:.40}" if "turns" in record else "it has none"
        return f"turns must be a list, {actual}"
    for number, turn in enumerate(turns):
        if problem := turn_problem(turn, f"turn {number}"):
            return problem
    for number, trace in enumerate(record.get("traces", [])):
        if problem := _problem_in_trace(trace):
            return f"trace {number}: {problem}"
    return None


def turn_problem(turn: Any, name: str) -> str | None:
    """Return in words why JSON values are not those of a turn, or None where they are.

    `name` is the turn's, in front.
    """
    needed = ("observation", "completion", "reward", "is_valid_action", "score")
    if problem := _problem_in(turn, _OF_TURN, needed=needed):
        return f"{name}: {problem}"
    call = turn.get("call")
    if call is not None and (problem := _problem_in(call, _OF_CALL, needed=())):
        return f"{name}, call: {problem}"
    return None


def _problem_in(
    record: Any, types: dict[str, tuple[type, ...]], *, needed: tuple[str, ...]
) -> str | None:
    if not isinstance(record, dict):
        return f"a JSON object is expected, got {record!r:.40}"
    for name in needed:
        if name not in record:
            return f"it has no {name}"
    for name, value in record.items():
        kinds = types.get(name)
        if kinds is None:
            continue
        kind = type(value)  # exactly: a bool is no number
        is_too_large = kind is int and abs(value) >= _TOO_LARGE
        if kind not in kinds or is_too_large or (kind is float and not isfinite(value)):
            return f"{name} must be {_IN_WORDS[kinds[-1]]}, got {value!r:.40}"
    return None


def _problem_in_trace(trace: Any) -> str | None:
    if not isinstance(trace, dict):
        return f"a JSON object is expected, got {trace!r:.40}"
    lists = {name: trace.get(name, []) for name in _OF_TRACE}
    for name, values in lists.items():
        if not isinstance(values, list) or not set(map(type, values)) <= {int, float}:
            return f"{name} must be a list of numbers"
        if name.endswith("_ids") and not _are_ids(values):
            return f"{name} must be whole numbers of a vocabulary"
    count = len(lists["completion_ids"])
    for name in ("action_mask", "logprobs"):
        if len(lists[name]) != count:
            return f"{len(lists[name])} values of {name} for {count} tokens"
    if lists["advantages"] and len(lists["advantages"]) != count:
        return f"{len(lists['advantages'])} values of advantages for {count} tokens"
    if not set(lists["action_mask"]) <= {0, 1}:
        return "action_mask must hold 0 and 1 only"
    return None


def _are_ids(values: list[Any]) -> bool:
    if not set(map(type, values)) <= {int}:
        return False
    return min(values, default=0) >= 0 and max(values, default=0) < _LARGEST_VOCABULARY
