"""Calls that several training processes make together, without a deadlock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from agentgym_envs.errors import EnvFailure

Result = TypeVar("Result")


def is_spread() -> bool:
    """Return whether several processes train."""
    return torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1


def is_first() -> bool:
    """Return whether this process is the first of those that train."""
    return not is_spread() or torch.distributed.get_rank() == 0


def from_first(work: Callable[[], Result]) -> Result:
    """Run work in the first process, and return or raise its result in all.

    All must call it at the same point. Its result pickles; `EnvFailure`, `OSError` and `ValueError`
    are raised in every process. Without several processes it is a plain call.
    """
    if not is_spread():
        return work()
    outcome: list[Any] = [None, None]
    if is_first():
        try:
            outcome[0] = work()
        except (EnvFailure, OSError, ValueError) as error:
            outcome[1] = error
    torch.distributed.broadcast_object_list(outcome, src=0)
    result, failure = outcome
    if failure is not None:
        raise failure
    return result  # type: ignore[no-any-return]
