"""Ends of a run or of a step: the clock, a signal, and gradients that are not numbers."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.distributed.tensor import DTensor
from torch.nn.utils import get_total_norm
from transformers import TrainerCallback

from trainers.runs.checkpoints import CHECKPOINT

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)

MOST_IN_A_ROW = 5
"""Skipped steps, one after the other, that end a run."""
TOGETHER = 0.2
"""Seconds in which further signals count as the first one.

A launcher may send it to a process and to its group.
"""


class StopAfter(TrainerCallback):
    """Ends training after the step in which the minutes are over. 0 never ends it.

    Raises:
        ValueError: `minutes` is negative.
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


class Interrupted(KeyboardInterrupt):
    """A signal ended training after a checkpoint was written. The message names the remedy.

    Attributes:
        global_step: the checkpoint's.
        checkpoint: its folder.
    """

    def __init__(self, global_step: int, checkpoint: Path) -> None:
        super().__init__(
            f"stopped after step {global_step}; {checkpoint} is saved. To go on, make the trainer "
            "anew and call trainer.train(resume_from_checkpoint=True)"
        )
        self.global_step = global_step
        self.checkpoint = checkpoint


class StopNow(KeyboardInterrupt):
    """A signal has come during a rollout. It is raised in the main thread, as Ctrl-C is."""


class SaveOnSignal(TrainerCallback):
    """Lets SIGINT and SIGTERM end training with a checkpoint, at the end of the present step.

    Within `at_once` the signal raises `StopNow`. The second signal has its former effect: Ctrl-C
    raises `KeyboardInterrupt` at once. Add it after other callbacks, since its `on_save` is where
    training ends. Use it as a context.

    Raises:
        Interrupted: from `trainer.train()`, once the checkpoint is written.
    """

    def __init__(self) -> None:
        self._signal: int | None = None
        self._before: dict[int, Any] = {}
        self._came_at = 0.0
        self._is_at_once = False

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Raise `StopNow` as soon as a signal arrives in this block, or if one already has."""
        if self._signal is not None:
            raise StopNow
        self._is_at_once = True
        try:
            yield
        finally:
            self._is_at_once = False

    def __enter__(self) -> SaveOnSignal:
        # Python allows handlers in the main thread only; elsewhere the caller has its own ways.
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.getsignal(number) for number in SIGNALS}
            for number in SIGNALS:
                signal.signal(number, self._take_note)
        return self

    def __exit__(self, *_exception: object) -> None:
        self._restore()

    def _take_note(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._signal is not None:
            if now - self._came_at >= TOGETHER:
                self._restore()
                signal.raise_signal(number)
            return
        self._signal, self._came_at = number, now
        name = signal.Signals(number).name
        when = (
            "a checkpoint is saved"
            if self._is_at_once
            else "the present step ends with a checkpoint"
        )
        message = f"\n{name}: {when}; a second one stops at once\n"
        os.write(sys.stderr.fileno(), message.encode())  # print() must not be called twice at once
        if self._is_at_once:
            raise StopNow

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Ask for a checkpoint, and for nothing that would delay it."""
        self._signal = _agreed(self._signal, args.device)
        if self._signal is not None:
            control.should_save = True
            control.should_evaluate = False

    def on_save(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """End training where a signal has come.

        Raises:
            Interrupted: it has.
        """
        if self._signal is not None:
            # Not by `should_training_stop`: the trainer would load the best model, and may delete
            # the last checkpoint (save_total_limit=1).
            folder = Path(args.output_dir) / f"{CHECKPOINT}{state.global_step}"
            raise Interrupted(state.global_step, folder)


def _agreed(number: int | None, device: torch.device) -> int | None:
    """Return the signal that any process was sent: all must stop at the same step."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return number
    largest = torch.tensor(number or 0, device=device)
    distributed.all_reduce(largest, op=distributed.ReduceOp.MAX)
    return int(largest) or None


class SkipNonFinite(TrainerCallback):
    """Skips optimizer steps whose gradient is not finite, and stops a run that has only such.

    The parameters and the optimizer's moments stay as they were; the learning rate moves on. A
    loss that is not finite has such a gradient. DeepSpeed keeps its gradients to itself and skips
    such steps itself. Callbacks after this one find in each log entry of training how many steps
    were skipped since the one before, as `skipped_steps`.

    Raises:
        FloatingPointError: from `trainer.train()`, after `MOST_IN_A_ROW` skipped steps.

    Attributes:
        num_skipped: steps skipped since training began or was resumed.
    """

    def __init__(self) -> None:
        self.num_skipped = 0
        self._in_a_row = 0
        self._since_log = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Start counting."""
        self.num_skipped = self._in_a_row = 0

    def on_pre_optimizer_step(
        self, args: Any, state: Any, control: Any, optimizer: Any = None, **_kwargs: Any
    ) -> None:
        """Drop the gradients if one of them is not finite.

        Raises:
            FloatingPointError: this was the case `MOST_IN_A_ROW` times in a row.
        """
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        if _all_finite([p.grad for p in parameters if p.grad is not None], args.device):
            self._in_a_row = 0
            return
        for parameter in parameters:
            parameter.grad = None  # an optimizer passes over parameters without one
        self.num_skipped += 1
        self._in_a_row += 1
        self._since_log += 1
        step = state.global_step
        logger.warning(
            "step %d is skipped: its gradient holds inf or nan (%d skipped so far). The weights "
            "are as before. If it comes again: lower --learning_rate or --max_grad_norm, or "
            "compute in bf16 or float32 instead of fp16.",
            step,
            self.num_skipped,
        )
        if self._in_a_row == MOST_IN_A_ROW:
            raise FloatingPointError(
                f"the gradients of {self._in_a_row} steps in a row held inf or nan, the last at "
                f"step {step}: the policy or its loss has diverged. Go back to a checkpoint from "
                "before with a lower `learning_rate` or `max_grad_norm`, or a higher `beta`; look "
                "at grad_norm and entropy in metrics.jsonl to see where it began"
            )

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Add the count to an entry, for the callbacks after this one."""
        if logs is not None and "loss" in logs:
            logs["skipped_steps"] = self._since_log
            self._since_log = 0


def _all_finite(gradients: list[torch.Tensor], device: torch.device) -> bool:
    norm = get_total_norm(gradients)
    if isinstance(norm, DTensor):
        norm = norm.full_tensor()
    bad = (~norm.isfinite()).float().to(device)
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.all_reduce(bad)  # gradients may differ between processes
    return not bool(bad)
