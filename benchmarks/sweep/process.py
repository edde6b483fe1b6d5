"""A worker of a sweep in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from benchmarks.sweep.batches import Batch, BatchOutcome, Report, no_counts
from benchmarks.sweep.worker import Worker

HUNG_SECONDS = 300.0
"""A worker that has not shown for so long that it runs is killed."""


class ProcessPlayer:
    """A worker in a process of its own, which may die alone.

    Args:
        threads: torch threads.
    """

    deaths: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        # When it last ran; without a lock, which a process that hangs might hold.
        self._life = context.RawValue("d", 0.0)
        self._counts = context.RawArray("l", no_counts())
        self._sharers = context.RawValue("l", 1)
        self._pool = ProcessPoolExecutor(
            1,
            mp_context=context,
            initializer=_begin_process,
            initargs=(threads, self._life, self._counts, self._sharers),
        )
        self._process: BaseProcess | None = None

    def share(self, sharers: int) -> None:
        """Set the number of workers that share `max_requests`."""
        self._sharers.value = sharers

    def submit(self, batch: Batch | None, more: bool) -> Future[Report]:
        """Submit work to the worker (`Worker.play`)."""
        if batch is not None:
            BatchOutcome().put(self._counts, batch.seat)
        others = set(active_children())
        try:
            future = self._pool.submit(_play, batch, more)
        except BrokenProcessPool as error:  # it has died since its last batch
            future = Future()
            future.set_exception(error)
        if self._process is None:  # the pool starts it with its first work
            self._life.value = time.monotonic()
            self._process = next(iter(set(active_children()) - others), None)
        return future

    def played(self, batch: Batch) -> BatchOutcome:
        """Return the counts of a batch that the worker plays."""
        return BatchOutcome.of_seat(self._counts, batch.seat)

    def is_hung(self) -> bool:
        """Whether the process does not run."""
        return time.monotonic() - float(self._life.value) > HUNG_SECONDS

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Abandon the running batches, and end the process."""
        if self._process is not None:
            try:
                self._pool.submit(_close)
            except BrokenProcessPool:
                pass  # it has ended
        self._pool.shutdown(wait=True)


_WORKER = Worker()


def _begin_process(threads: int, life: Any, counts: Any, sharers: Any) -> None:
    """Prepare a pool's process: its share of the cores, and an end with its parent's.

    Args:
        threads: torch threads.
        life: a shared value, which gets the monotonic clock's time every second.
        counts: a shared array, which gets the counts of the batches under way.
        sharers: a shared value, the workers that share what `max_requests` allows.
    """
    _WORKER.counts, _WORKER.sharers = counts, sharers
    os.environ["OMP_NUM_THREADS"] = str(threads)
    threading.Thread(target=_show, args=(life,), daemon=True).start()
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _play(batch: Batch | None, more: bool) -> Report:
    return _WORKER.play(batch, more=more)


def _close() -> None:
    _WORKER.close()


def _show(life: Any) -> None:
    while True:
        life.value = time.monotonic()
        time.sleep(1)


def _end_with(sentinel: int) -> None:
    # A sweep that is killed outright takes its workers along; they would wait for work for ever.
    wait([sentinel])
    os._exit(1)
