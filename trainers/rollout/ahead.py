"""Plays batches in a thread of its own while a trainer works on earlier ones.

The trainer's thread requests batches and takes them in that order. Work that only the trainer may
do, such as sending weights that an optimizer changes, it does for the player between two of its
own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.rollout.rollout import Rollout

logger = logging.getLogger(__name__)

END_SECONDS = 10.0
"""Seconds for the turn that is being sampled to end, when the run does."""


@dataclass(frozen=True)
class AheadBatch:
    """A requested batch.

    Attributes:
        task_ids: the tasks.
        global_step: the optimizer step of the request, and of the batch's horizon.
        options: further ones of `Rollout.run`.
    """

    task_ids: list[str]
    global_step: int
    options: dict[str, Any]


@dataclass
class _Work:
    """A function that the player runs in the trainer's thread."""

    work: Callable[[], None]
    is_done: bool = False
    error: Exception | None = None


class Stopped(Exception):
    """The batch that is being played is no longer needed."""


class BatchesAhead:
    """Batches that are prefetched in one training.

    `turn`, `in_trainer` and `is_player` are for what the player calls, the rest for the trainer's
    thread. Outside of `paused` nothing else may use the rollout.
    """

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._changed = threading.Condition()
        self._requested: deque[AheadBatch] = deque()
        self._ended: deque[tuple[AheadBatch, list[Trajectory] | BaseException]] = deque()
        self._queue: deque[_Work] = deque()
        self._is_playing = self._is_paused = self._is_stopping = False
        self._in_turn = self._turns_wait = False
        self._busy, self._busy_since = 0.0, 0.0
        self._thread = threading.Thread(target=self._run, name="prefetch", daemon=True)

    def __len__(self) -> int:
        """Return the number of batches that were requested and not taken."""
        with self._changed:
            return len(self._requested) + self._is_playing + len(self._ended)

    @property
    def busy_seconds(self) -> float:
        """The time that the player has played."""
        with self._changed:
            present = time.perf_counter() - self._busy_since if self._is_playing else 0.0
            return self._busy + present

    def request(self, task_ids: Sequence[str], *, global_step: int, **options: Any) -> None:
        """Request a batch, with the present optimizer step and further options of `Rollout.run`."""
        with self._changed:
            self._requested.append(AheadBatch(list(task_ids), global_step, options))
            self._changed.notify_all()
        if self._thread.ident is None:
            self._thread.start()

    def take(self) -> tuple[AheadBatch, list[Trajectory]]:
        """Wait for the batch that was requested first, and return it with its trajectories.

        Raises:
            ValueError: none was requested.
            BaseException: what ended its play.
        """
        if not len(self):
            raise ValueError("no batch was requested; call request first")
        self._wait(lambda: bool(self._ended))
        batch, outcome = self._ended.popleft()
        if isinstance(outcome, BaseException):
            raise outcome
        return batch, outcome

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the present batch end, and begin no other meanwhile."""
        self._is_paused = True
        try:
            self._wait(lambda: not self._is_playing)
            yield
        finally:
            with self._changed:
                self._is_paused = False
                self._changed.notify_all()

    @contextmanager
    def between_turns(self) -> Iterator[None]:
        """Let the turn that is being sampled end, and begin no other meanwhile."""
        self._turns_wait = True
        try:
            self._wait(lambda: not self._in_turn)
            yield
        finally:
            with self._changed:
                self._turns_wait = False
                self._changed.notify_all()

    def stop(self) -> None:
        """Drop all requests, and end the thread after the turn that is being sampled.

        A thread that outlives this, in an environment that hangs, samples no further turn and has
        no work done in the trainer's thread any more.
        """
        with self._changed:
            self._is_stopping = True
            self._queue.clear()
            self._changed.notify_all()
        if self._thread.ident is None:
            return
        self._thread.join(END_SECONDS)
        if self._thread.is_alive():
            logger.warning("the prefetching thread is still waiting for a reply, and ends after it")

    # What the player calls ------------------------------------------------------------------------

    @property
    def is_player(self) -> bool:
        """This is the player's thread."""
        return threading.current_thread() is self._thread

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Sample a turn here, when the trainer lets one begin.

        Raises:
            Stopped: it is no longer needed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopping or not self._turns_wait)
            if self._is_stopping:
                raise Stopped
            self._in_turn = True
        try:
            yield
        finally:
            with self._changed:
                self._in_turn = False
                self._changed.notify_all()

    def in_trainer(self, work: Callable[[], None]) -> None:
        """Run `work` in the trainer's thread, as soon as that waits for the player.

        Raises:
            Stopped: it is no longer needed.
            Exception: what the work raises.
        """
        job = _Work(work)
        with self._changed:
            if self._is_stopping:
                raise Stopped
            self._queue.append(job)
            self._changed.notify_all()
            self._changed.wait_for(lambda: job.is_done or self._is_stopping)
        if job.error is not None:
            raise job.error
        if not job.is_done:
            raise Stopped

    def _wait(self, is_there: Callable[[], bool]) -> None:
        """Wait in the trainer's thread, and run the player's work there meanwhile."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: is_there() or self._queue)
                if not self._queue:
                    return
                job = self._queue.popleft()
            try:
                job.work()
            except Exception as error:  # it is the player's, who retries what may pass
                job.error = error
            with self._changed:
                job.is_done = True
                self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._is_stopping or (self._requested and not self._is_paused)
                )
                if self._is_stopping:
                    return
                batch = self._requested.popleft()
                self._is_playing, self._busy_since = True, time.perf_counter()
            outcome: list[Trajectory] | BaseException
            try:
                outcome = self._rollout.run(
                    batch.task_ids,
                    global_step=batch.global_step,
                    on_trajectory=self._see,
                    **batch.options,
                )
            except BaseException as failure:
                outcome = failure
            with self._changed:
                self._is_playing = False
                self._busy += time.perf_counter() - self._busy_since
                self._ended.append((batch, outcome))
                self._changed.notify_all()
            if isinstance(outcome, BaseException):
                return

    def _see(self, _trajectory: Trajectory) -> None:
        if self._is_stopping:
            raise Stopped
