"""Checks the answer to one turn: its types, its keys, and that they agree with each other."""

from __future__ import annotations

import functools
import json
from typing import Any

from agentgym_envs.checking.probing import ConformanceError, Step, require
from agentgym_envs.core.outcome import INFO_KEYS

_require = functools.partial(require, remedy="")  # these contracts say what to do

_INFO_TYPES: dict[str, tuple[type, ...]] = {
    "task_id": (str,),
    "subtask": (str,),
    "split": (str,),
    "source": (str,),
    "goal": (str,),
    "success": (bool,),
    "score": (float,),
    "is_valid_action": (bool,),
    "available_actions": (list, type(None)),
    "turn": (int,),
    "truncated_by": (str, type(None)),
}


def check_step(step: Step, *, turn: int) -> None:
    """Check the result of `step`.

    Args:
        step: the five-tuple.
        turn: the steps taken in this episode.

    Raises:
        ConformanceError: it breaks the contract.
    """
    _require(isinstance(step.observation, str), "an observation must be a str", step.observation)
    _require(type(step.reward) is float, "a reward must be a float", step.reward)
    for name in ("terminated", "truncated"):
        flag = getattr(step, name)
        _require(type(flag) is bool, f"{name} must be a bool", flag)
    check_info(step.info, turn=turn)
    truncated_by = step.info["truncated_by"]
    _require(
        step.truncated == (truncated_by is not None),
        "truncated_by must be None exactly where truncated is False",
        (step.truncated, truncated_by),
    )
    _require(
        step.terminated or not step.info["success"], "success must terminate the episode", step
    )


def check_info(info: dict[str, Any], *, turn: int) -> None:
    """Check the info of `reset` or `step`, with the arguments of `check_step`.

    Raises:
        ConformanceError: it breaks the contract.
    """
    missing = [key for key in INFO_KEYS if key not in info]
    _require(not missing, f"info must hold the keys {INFO_KEYS}", {"missing": missing})
    for key, kinds in _INFO_TYPES.items():
        contract = f"info[{key!r}] must be {' or '.join(kind.__name__ for kind in kinds)}"
        _require(type(info[key]) in kinds, contract, info[key])
    offers = info["available_actions"] or []
    strangers = [offer for offer in offers if type(offer) is not str]
    _require(not strangers, "available_actions must be a list of str", strangers)
    _require(0 <= info["score"] <= 1, "score must be in 0..1", info["score"])
    _require(info["score"] == 1 or not info["success"], "success means score 1", info["score"])
    _require(info["turn"] == turn, f"turn must be {turn}, the steps taken", info["turn"])
    _require(bool(info["source"]), "source must name the data", info["source"])
    try:
        back = json.loads(json.dumps(info))
    except (TypeError, ValueError) as error:
        raise ConformanceError(
            f"info must be JSON values; json says: {error}", remedy=""
        ) from error
    _require(back == info, "info must come back from JSON as it was", info)
