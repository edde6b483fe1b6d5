"""Horizon schedules that watch success: where a trainer tells them of it, and keeps what they know.

Knows the trainer's callbacks and saved state; not how a schedule decides.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from transformers import TrainerCallback

_SAVED_AS = "horizon_schedule"


@runtime_checkable
class WatchesSuccess(Protocol):
    """A horizon schedule that depends on what happened; `wrappers.AdaptiveHorizon` is one."""

    def record(self, global_step: int, success: float) -> None:
        """Take note of the success of a step's training episodes."""

    def state_dict(self) -> dict[str, Any]:
        """Return all it knows, as JSON values."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there; an empty dict begins anew."""


class KeepsSchedule(TrainerCallback):
    """Keeps what a schedule knows in `trainer_state.json`, the last file of a checkpoint.

    Args:
        schedule: any horizon schedule; one that does not watch success needs nothing kept.
    """

    def __init__(self, schedule: Any) -> None:
        self._schedule = schedule if isinstance(schedule, WatchesSuccess) else None

    def record(self, global_step: int, metrics: dict[str, float]) -> None:
        """Tell the schedule of a batch of training episodes, if they did not all fail."""
        if self._schedule is not None and "episodes/success" in metrics:
            self._schedule.record(global_step, metrics["episodes/success"])

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Go on from the checkpoint's state, or begin anew."""
        if self._schedule is not None:
            self._schedule.load_state_dict(state.stateful_callbacks.get(_SAVED_AS, {}))

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Put what the schedule knows where checkpoints are made from."""
        if self._schedule is not None:
            state.stateful_callbacks[_SAVED_AS] = self._schedule.state_dict()
