"""Stops a training run by the clock. Knows the trainer's callbacks, nothing else."""

from __future__ import annotations

import time
from typing import Any

from transformers import TrainerCallback


class StopAfter(TrainerCallback):
    """Ends training after the step in which the time is up.

    Args:
        minutes: of wall time, counted from the start of training; 0 never stops.
    """

    def __init__(self, minutes: float) -> None:
        if minutes < 0:
            raise ValueError(f"minutes must be >= 0, got {minutes}")
        self._seconds = 60 * minutes
        self._start = 0.0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Start the clock."""
        self._start = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Stop where the time is up."""
        if self._seconds and time.monotonic() - self._start >= self._seconds:
            control.should_training_stop = True
