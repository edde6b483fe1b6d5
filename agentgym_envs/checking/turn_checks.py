"""Checks the answer to one turn: its types, its keys, and that they agree with each other."""

from __future__ import annotations

import json
from typing import Any

from agentgym_envs.checking.probing import ConformanceError, Step, require
from agentgym_envs.outcome import INFO_KEYS

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
    """Check what `step` returned.

    Args:
        step: the five-tuple.
        turn: the steps taken in this episode.

    Raises:
        ConformanceError: it breaks the contract.
    """
    require(isinstance(step.observation, str), "an observation must be a str", step.observation)
    require(type(step.reward) is float, "a reward must be a float", step.reward)
    for name in ("terminated", "truncated"):
        flag = getattr(step, name)
        require(type(flag) is bool, f"{name} must be a bool", flag)
    check_info(step.info, turn=turn)
    truncated_by = step.info["truncated_by"]
    require(
        step.truncated == (truncated_by is not None),
        "truncated_by must be None exactly where truncated is False",
        (step.truncated, truncated_by),
    )
    require(step.terminated or not step.info["success"], "success must terminate the episode", step)


def check_info(info: dict[str, Any], *, turn: int) -> None:
    """Check the info of `reset` or `step`; arguments and errors as `check_step`."""
    missing = [key for key in INFO_KEYS if key not in info]
    require(not missing, f"info must hold the keys {INFO_KEYS}", {"missing": missing})
    for key, kinds in _INFO_TYPES.items():
        contract = f"info[{key!r}] must be {' or '.join(kind.__name__ for kind in kinds)}"
        require(type(info[key]) in kinds, contract, info[key])
    require(0 <= info["score"] <= 1, "score must be in 0..1", info["score"])
    require(info["score"] == 1 or not info["success"], "success means score 1", info["score"])
    require(info["turn"] == turn, f"turn must be {turn}, the steps taken", info["turn"])
    require(bool(info["source"]), "source must name the data", info["source"])
    try:
        back = json.loads(json.dumps(info))
    except (TypeError, ValueError) as error:
        raise ConformanceError(f"info must be JSON values; json says: {error}") from error
    require(back == info, "info must come back from JSON as it was", info)
