"""Saves in checkpoints what the draw of the next tasks depends on."""

from __future__ import annotations

from typing import Any, Protocol

from transformers import TrainerCallback

_SAVED_AS = "task_sampling"


class StatefulTasks(Protocol):
    """What draws tasks by what was played before, such as `LearnableTasks`."""

    def state_dict(self) -> dict[str, Any]:
        """Return its state, as JSON values."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state; an empty dict begins anew."""


class SamplingStateCallback(TrainerCallback):
    """Saves the state of what draws tasks in `trainer_state.json`, the last file of a checkpoint.

    Args:
        tasks: what draws.
    """

    def __init__(self, tasks: StatefulTasks) -> None:
        self._tasks = tasks

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Continue from the checkpoint's state, or begin anew."""
        self._tasks.load_state_dict(state.stateful_callbacks.get(_SAVED_AS, {}))

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Put the state into the trainer's, which checkpoints save."""
        state.stateful_callbacks[_SAVED_AS] = self._tasks.state_dict()
