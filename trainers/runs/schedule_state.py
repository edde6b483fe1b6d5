"""Records success for horizon schedules that depend on it, and saves their state in checkpoints."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from transformers import TrainerCallback

_SAVED_AS = "horizon_schedule"


@runtime_checkable
class StatefulSchedule(Protocol):
    """A horizon schedule that depends on what happened; `wrappers.AdaptiveHorizon` is one."""

    def record(self, global_step: int, success: float) -> None:
        """Record the success of a step's training episodes."""

    def state_dict(self) -> dict[str, Any]:
        """Return its state, as JSON values."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state; an empty dict begins anew."""


class ScheduleStateCallback(TrainerCallback):
    """Saves the state of a schedule in `trainer_state.json`, the last file of a checkpoint.

    Args:
        schedule: any horizon schedule; one without state is left alone.
    """

    def __init__(self, schedule: Any) -> None:
        self._schedule = schedule if isinstance(schedule, StatefulSchedule) else None

    def record(self, global_step: int, metrics: dict[str, float]) -> None:
        """Record a batch of training episodes, if they did not all fail."""
        if self._schedule is not None and "episodes/success" in metrics:
            self._schedule.record(global_step, metrics["episodes/success"])

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Continue from the checkpoint's state, or begin anew."""
        if self._schedule is not None:
            self._schedule.load_state_dict(state.stateful_callbacks.get(_SAVED_AS, {}))

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Put the state into the trainer's, which checkpoints save."""
        if self._schedule is not None:
            state.stateful_callbacks[_SAVED_AS] = self._schedule.state_dict()
