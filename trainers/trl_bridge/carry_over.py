"""Carries groups of episodes over into the next step, for `--carry_over`.

Twice the batch is under way. A step takes the groups that are complete, whichever rows of the data
are its own, and the next batch's are asked for in their place; an epoch's last step takes what is
left. A checkpoint has the rows that take the place of the next batch's in a run that is resumed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from agentgym_envs.trajectory import Trajectory
from trainers.rollout.carried import CarriedGroups

logger = logging.getLogger(__name__)

_FILE = "carried.pt"


class CarryOverMixin:
    """A mixin before `AheadMixin` that plays in its place where `carry_over` is set.

    Attributes:
        carry_over: whether groups that are not complete go on in the next step.
    """

    carry_over = False
    take_batch: Callable[[list[str]], list[Trajectory]] | None = None
    _resumed_rows: list[Any] = []
    """Of a checkpoint, until they are played."""
    _rows_before: tuple[int, list[Any]] = (-1, [])
    """A step, and the rows that it is to be played with if it is played again."""

    def _open_player(self: Any) -> Any:
        if not self.carry_over:
            return super()._open_player()  # type: ignore[misc]
        return CarriedGroups(self.rollout, self.num_generations)

    def _generate_and_score_completions(self: Any, inputs: list[Any]) -> dict[str, Any]:
        score = super()._generate_and_score_completions  # type: ignore[misc]
        seconds = 0.0
        if self.model.training:
            if self._resumed_rows:
                inputs, self._resumed_rows = self._resumed_rows, []
                self._rows_before = (self.state.global_step, inputs)
            if self.carry_over:
                start = time.perf_counter()
                inputs = self._take_complete(inputs)
                seconds = time.perf_counter() - start
            if self._rows_before[0] == self.state.global_step:
                # Copies, since TRL writes into rows, and these may be saved once more.
                inputs = [dict(row) for row in inputs]
        batch: dict[str, Any] = score(inputs)
        if seconds:
            self._metrics["train"]["rollout_time"][-1] += seconds
        return batch

    def _take_complete(self: Any, inputs: list[Any]) -> list[Any]:
        """Play until a batch of groups is complete; return its rows."""
        groups, step = self._ahead, self.state.global_step
        if not len(groups):  # the first of an epoch
            groups.ask(inputs)
        if self._rows_before[0] != step:
            self._rows_before = (step, groups.rows)
        every = self.args.steps_per_generation * self.num_iterations
        next_step = step + self._micro_batches.steps_until(every)
        if next_step < self.state.max_steps:
            groups.ask(self._micro_batches.read(every) or [])
        with self.playing():
            rows, trajectories = groups.take(
                len(inputs) // self.num_generations,
                oldest=next_step - self.max_staleness,
                **self.rollout_options(),
            )
        self.asked_at = min(one.global_step for one in trajectories)
        self._log_staleness(trajectories)
        ages = [step - began_at for began_at in groups.began_at]
        self._log_metric("async/carried", float(len(ages)))
        self._log_metric("async/carried_staleness", fmean(ages) if ages else 0.0)
        self.take_batch = lambda _task_ids: trajectories
        return rows

    def _paused(self: Any) -> AbstractContextManager[None]:
        """Let what is under way end: evaluations have the same environments and policy."""
        if not isinstance(self._ahead, CarriedGroups):
            paused: AbstractContextManager[None] = super()._paused()  # type: ignore[misc]
            return paused
        if self._ahead.is_under_way:
            with self.playing():
                self._ahead.end(**self.rollout_options())
        return nullcontext()

    # Checkpoints ------------------------------------------------------------------------------

    def _rows_to_resume(self: Any) -> list[Any]:
        """Return the rows of the groups that are played first in a run that is resumed."""
        step, before = self._rows_before
        if self._resumed_rows:
            return self._resumed_rows  # type: ignore[no-any-return]
        if step == self.state.global_step:  # amid it: what it has taken is not trained on yet
            return before
        return self._ahead.rows if isinstance(self._ahead, CarriedGroups) else []

    def _carried_use(self: Any) -> list[int]:
        """Return what saved rows fit: the episodes of a batch, and of a group."""
        args = self.args
        return [args.per_device_train_batch_size * args.steps_per_generation, self.num_generations]

    def _save_optimizer_and_scheduler(self: Any, output_dir: str) -> None:
        rows = self._rows_to_resume()
        if rows:
            Path(output_dir).mkdir(parents=True, exist_ok=True)
            torch.save({"rows": rows, "use": self._carried_use()}, Path(output_dir) / _FILE)
        super()._save_optimizer_and_scheduler(output_dir)  # type: ignore[misc]

    def _load_optimizer_and_scheduler(self: Any, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)  # type: ignore[misc]
        self._resumed_rows, self._rows_before = [], (-1, [])
        if checkpoint is None or not (Path(checkpoint) / _FILE).is_file():
            return
        saved = torch.load(Path(checkpoint) / _FILE, weights_only=True)
        if saved["use"] != self._carried_use():
            logger.warning(
                "the episodes that were carried over at %s do not fit this run's batches; their "
                "tasks are left out of this epoch",
                checkpoint,
            )
            return
        self._resumed_rows = saved["rows"]
