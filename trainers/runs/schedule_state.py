"""The record and the state of horizon schedules that depend on success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class StatefulSchedule(Protocol):
    """A horizon schedule that depends on what happened; `wrappers.AdaptiveHorizon` is one."""

    def __call__(self, global_step: int) -> int:
        """Return the horizon of episodes that start at `global_step`."""

    def record(self, global_step: int, success: float) -> None:
        """Record the success of a step's training episodes."""

    def state_dict(self) -> dict[str, Any]:
        """Return its state, as JSON values."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state; an empty dict begins anew."""


class ScheduleState:
    """The state of a run's horizon schedules, for its checkpoints.

    Args:
        schedule: any horizon schedule, or one for each environment by the name in front of its
            task ids; one without state is left alone.
        names: what metrics call the environments, where each has a schedule.
    """

    def __init__(self, schedule: Any, *, names: Mapping[str, str] | None = None) -> None:
        # By their name in the state, and the metric that each goes by.
        schedules = {("", "episodes/success"): schedule}
        if isinstance(schedule, Mapping):
            shown = names or {}
            schedules = {(name, f"success/{shown[name]}"): own for name, own in schedule.items()}
        self._schedules = {
            key: own for key, own in schedules.items() if isinstance(own, StatefulSchedule)
        }

    def record(
        self, global_step: int, metrics: dict[str, float], *, horizon_step: int | None = None
    ) -> None:
        """Record a batch of training episodes; those of an environment may all have failed.

        Args:
            global_step: the step that trains on them.
            metrics: of the episodes.
            horizon_step: the step whose horizon they have, if another. Those of an earlier stage
                say nothing of the present one.
        """
        for (_, metric), schedule in self._schedules.items():
            is_earlier = horizon_step not in (None, global_step) and (
                schedule(horizon_step) != schedule(global_step)
            )
            if metric in metrics and not is_earlier:
                schedule.record(global_step, metrics[metric])

    def state_dict(self) -> dict[str, Any]:
        """Return the schedules' states by name."""
        return {name: schedule.state_dict() for (name, _), schedule in self._schedules.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state; an empty dict begins anew."""
        for (name, _), schedule in self._schedules.items():
            schedule.load_state_dict(state.get(name, {}))
