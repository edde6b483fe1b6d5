"""Plays batches ahead of the step that trains on them, for `--max_staleness`.

Tasks come from the trainer's own data, read ahead within an epoch. A batch's horizon and random
numbers are fixed when it is asked for; its numbers are those of the step that will train on it, so
a run that is resumed plays what was under way again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import fmean
from typing import Any, Protocol

from agentgym_envs.trajectory import Trajectory
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.errors import UsageError
from trainers.rollout.ahead import BatchesAhead


class WeightsSender(Protocol):
    """What samples in the player's thread: `trainers.backends.shared.SharedBackend`."""

    player: Any

    def send(self, global_step: int) -> None:
        """Send the present weights."""


class ReadAhead(Iterator[Any]):
    """An epoch's micro-batches, of which those to come can be read.

    Args:
        batches: the epoch's.
        per_step: micro-batches of an optimizer step.
    """

    def __init__(self, batches: Iterator[Any], per_step: int) -> None:
        self.batches = batches
        self._per_step = per_step
        self._known: deque[Any] = deque()  # the present one first
        self._num_given = 0

    def __next__(self) -> Any:
        """Return the next one; it is present once those given before have been passed."""
        batch = self.read(self._num_given)
        if batch is None:
            raise StopIteration
        self._num_given += 1
        return batch

    def read(self, place: int) -> Any:
        """Return the one so many places after the present one; None where the epoch has ended."""
        while len(self._known) <= place:
            try:
                self._known.append(next(self.batches))
            except StopIteration:
                return None
        return self._known[place]

    def pass_on(self) -> None:
        """Make the next one the present one."""
        self._known.popleft()
        self._num_given -= 1

    def steps_until(self, place: int) -> int:
        """Return how many optimizer steps are taken before that place is reached."""
        # Those that were given make up the present step.
        return max(0, -(-(place + 1 - self._num_given) // self._per_step))


class AheadMixin:
    """A mixin before `EpisodeTrainer` that plays ahead where `max_staleness` is not 0.

    Attributes:
        max_staleness: optimizer steps that the weights of an episode may be behind.
        weights_sender: samples what is played ahead.
    """

    max_staleness = 0
    asked_at: int | None = None
    weights_sender: WeightsSender | None = None
    take_batch: Callable[[list[str]], list[Trajectory]] | None = None
    _ahead: BatchesAhead | None = None
    _micro_batches: ReadAhead | None = None
    _taken_at: tuple[float, float] | None = None
    """When the last batch was taken, and how long the player had played by then."""

    def train(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Train; however it ends, nothing is played any more after it."""
        if not self.max_staleness:
            return super().train(*args, **kwargs)  # type: ignore[misc]
        with self._paused():  # an earlier training's last episodes end first
            self._ahead = self._open_player()
        self._micro_batches = self._taken_at = None
        self.asked_at = None
        try:
            return super().train(*args, **kwargs)  # type: ignore[misc]
        finally:
            self._ahead.stop()
            self.take_batch = None

    def _open_player(self: Any) -> BatchesAhead:
        """Return what plays in this training."""
        player = self.weights_sender.player = BatchesAhead(self.rollout)
        self.take_batch = self._take
        return player

    def get_batch_samples(
        self: Any, epoch_iterator: Iterator[Any], num_batches: int, device: Any
    ) -> Any:
        """Return the micro-batches of a step; see `transformers.Trainer.get_batch_samples`."""
        if self.max_staleness:
            if self._micro_batches is None or self._micro_batches.batches is not epoch_iterator:
                per_step = self.args.gradient_accumulation_steps
                self._micro_batches = ReadAhead(epoch_iterator, per_step)
            epoch_iterator = self._micro_batches
        return super().get_batch_samples(epoch_iterator, num_batches, device)  # type: ignore[misc]

    def _prepare_inputs(self: Any, generation_batch: Any) -> dict[str, Any]:
        inputs: dict[str, Any] = super()._prepare_inputs(generation_batch)  # type: ignore[misc]
        if self._ahead is not None and self.model.training:
            self._micro_batches.pass_on()
        return inputs

    def evaluate(self: Any, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Evaluate; what is being played ahead ends first, for its environments are the same."""
        with self._paused():
            metrics: dict[str, float] = super().evaluate(*args, **kwargs)  # type: ignore[misc]
        return metrics

    def save_in_trainer(self: Any) -> None:
        """Save a checkpoint; from the player's thread, as soon as the trainer waits for it."""
        if self._ahead is not None and self._ahead.is_player:
            self._ahead.in_trainer(self.save_now)
        else:
            self.save_now()

    def _take(self: Any, task_ids: list[str]) -> list[Trajectory]:
        """Return the episodes of a batch, and have the next ones played meanwhile."""
        ahead = self._ahead
        start = time.perf_counter()
        if not len(ahead):  # the first of an epoch
            self._send()
            ahead.ask(task_ids, **self.rollout_options())
        elif self.max_staleness > 1:  # under way, they go on with the new weights
            self._send_between_turns()
        batch, trajectories = ahead.take()
        assert batch.task_ids == task_ids, "the batches are taken in the order of the data"
        self._log_ahead(trajectories, waited=time.perf_counter() - start)
        self.asked_at = batch.global_step
        self._send_between_turns()
        self._ask_ahead()
        return trajectories

    def _send_between_turns(self: Any) -> None:
        with self._ahead.between_turns():
            self._send()

    def _send(self: Any) -> None:
        """Send the present weights; servers that are away are waited for, as in play."""
        self.rollout.machinery.retry(lambda: self.weights_sender.send(self.state.global_step))

    def _ask_ahead(self: Any) -> None:
        """Ask for the batches that the present weights may play."""
        every = self.args.steps_per_generation * self.num_iterations
        step = self.state.global_step
        while True:
            place = every * (len(self._ahead) + 1)
            steps = self._micro_batches.steps_until(place)
            if steps > self.max_staleness or step + steps >= self.state.max_steps:
                return
            inputs = self._micro_batches.read(place)
            if inputs is None:
                return
            task_ids = [row["prompt"] for row in inputs]
            self._ahead.ask(task_ids, **self.rollout_options(steps))

    def _log_ahead(self: Any, trajectories: Sequence[Trajectory], *, waited: float) -> None:
        """Log how old the weights were, and who has waited for whom since the last batch."""
        self._log_staleness(trajectories)
        self._log_metric("async/rollout_wait", waited)
        now, busy_seconds = time.perf_counter(), self._ahead.busy_seconds
        if self._taken_at is not None:
            began, busy_before = self._taken_at
            seconds, busy = now - began, busy_seconds - busy_before
            self._log_metric("async/trainer_wait", max(0.0, seconds - busy))
            self._log_metric("async/rollout_busy", min(1.0, busy / seconds))
            self._log_metric("async/trainer_busy", max(0.0, 1 - waited / seconds))
        self._taken_at = now, busy_seconds

    def _log_staleness(self: Any, trajectories: Sequence[Trajectory]) -> None:
        """Log how many optimizer steps the weights were behind."""
        step = self.state.global_step
        ages = [
            step - turn.weights_step
            for trajectory in trajectories
            for turn in trajectory.turns
            if turn.weights_step is not None
        ]
        if ages:
            assert max(ages) <= self.max_staleness
            self._log_metric("async/staleness", fmean(ages))
            largest = self._metrics["train"]["async/staleness_max"]
            largest[:] = [float(max([*ages, *largest]))]  # TRL logs the mean of a list

    def _paused(self: Any) -> AbstractContextManager[None]:
        return nullcontext() if self._ahead is None else self._ahead.paused()


def check_ahead(
    rollout: RolloutArguments, env: EnvArguments, *, processes: int, carry_over: bool
) -> None:
    """Check that episodes can be played while the policy is trained, or go on after it.

    Args:
        rollout: names the backend.
        env: names where environments run.
        processes: that train.
        carry_over: playing and training take turns.

    Raises:
        UsageError: they cannot.
    """
    if processes > 1:
        raise UsageError(
            "max_staleness sends weights between two turns of one process, which "
            f"{processes} processes would have to do at one moment; pass `max_staleness=0`, which "
            "plays each process's share on the same `server_url`, or train with one process"
        )
    if carry_over:
        return  # playing and training take turns in one thread
    if not rollout.backend_spec.can_play_ahead:
        raise UsageError(
            "max_staleness plays while the policy is trained, so what samples must have weights of "
            f"its own, got `backend={rollout.backend_spec.name}`; pass "
            "`backend=vllm_server` with `server_url=http://host:port`, `carry_over` to take turns "
            "on one device, or `max_staleness=0`"
        )
    if env.env_backend == "sync":
        raise UsageError(
            "max_staleness plays in another thread than evaluations, so environments need threads "
            "of their own, got `env_backend=sync`; pass `env_backend=thread`, process or ray"
        )
