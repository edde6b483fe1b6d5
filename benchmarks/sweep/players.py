"""Where a sweep's batches are played: processes of this machine, or the actors of a Ray cluster.

A worker that dies is replaced and its batch given to another; so is one that hangs: each shows
every second that it runs, whatever its batch is doing.
"""

from __future__ import annotations

import logging
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from importlib import import_module
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from agentgym_envs.errors import EnvFailure, MissingExtra, NoExpert
from benchmarks.sweep.worker import Batch, BatchOutcome, Worker, begin_process, play_batch
from trainers.options.errors import BudgetSpent, UsageError

_LOG = logging.getLogger(__name__)

_BATCH_ERRORS = (EnvFailure, UsageError, NoExpert, BudgetSpent)
"""What ends a batch in its worker: machinery that broke, a policy that cannot be opened, an expert
that a task lacks, and a budget that is spent, which ends the sweep."""

RETRIES = 2
"""How often a batch is given to another worker after its own has died."""

HUNG_SECONDS = 300.0
"""A worker that has not shown for so long that it runs is killed."""

SET_UP_SECONDS = 1800.0
"""As much for a Ray actor that is being set up, for which a busy cluster may have no place yet."""

_LOOK_SECONDS = 1.0

Follow = Callable[[Batch, BatchOutcome], None]
"""Is told of each batch as it begins and every second, with what became of its episodes so far."""

Play = Callable[[Sequence[Batch], Follow], Iterator[tuple[Batch, "BatchOutcome | Exception"]]]
"""Plays batches, and yields each as it ends: with what became of its episodes, or what broke."""


def over_processes(workers: int, threads: int) -> Play:
    """Play in processes of this machine.

    Args:
        workers: processes.
        threads: torch threads of each.
    """
    return partial(_play, workers, partial(_Process, threads))


def over_ray(address: str, cpus: float, gpus: float) -> Play:
    """Play on a Ray cluster, whose machines see the sweep's folder under the same path.

    Args:
        address: of the cluster, as `ray.init` takes it; `"local"` starts one here.
        cpus: processor cores of each worker.
        gpus: GPUs of each worker.

    Raises:
        MissingExtra: Ray is not installed.
    """
    try:
        ray = import_module("ray")
    except ImportError as error:
        raise MissingExtra("ray", "--ray", error) from error
    ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    count = max(1, int(ray.cluster_resources().get("CPU", 1) / cpus))
    if gpus:
        count = max(1, min(count, int(ray.cluster_resources().get("GPU", 0) / gpus)))
    # A second thread of the actor answers while the first one plays.
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_concurrency=2)(_RayWorker)
    return partial(_play, count, partial(_Actor, ray, remote))


class _Player(Protocol):
    """A worker as the sweep sees it."""

    deaths: tuple[type[Exception], ...]
    """What its futures raise where it has died."""

    def submit(self, batch: Batch) -> Future[Any]: ...

    def played(self) -> BatchOutcome: ...

    def is_hung(self) -> bool: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...


def _play(
    count: int, make: Callable[[], _Player], batches: Sequence[Batch], follow: Follow
) -> Iterator[tuple[Batch, BatchOutcome | Exception]]:
    free = [make() for _ in range(min(count, len(batches)))]
    workers = len(free)
    waiting, deaths = list(batches)[::-1], Counter[tuple[str, int]]()
    running: dict[Future[Any], tuple[Batch, _Player]] = {}
    try:
        while waiting or running:
            # No more is handed out than is played, so that Ctrl-C ends soon.
            while waiting and free:
                batch, player = waiting.pop(), free.pop()
                running[player.submit(replace(batch, workers=workers))] = batch, player
                follow(batch, BatchOutcome())
            ended, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for batch, player in running.values():
                follow(batch, player.played())
                if player.is_hung():
                    _LOG.warning("killing a worker that hangs at %s", batch.cell.name)
                    player.kill()
            for future in ended:
                batch, player = running.pop(future)
                if isinstance(future.exception(), player.deaths):
                    player.close()
                    player = make()
                    deaths[batch.cell.name, batch.number] += 1
                    if deaths[batch.cell.name, batch.number] <= RETRIES:
                        _LOG.warning("a worker died at %s; once more", batch.cell.name)
                        waiting.append(batch)
                        free.append(player)
                        continue
                free.append(player)
                yield batch, result_of(future, player.deaths)
    finally:
        for player in [*free, *(player for _, player in running.values())]:
            player.close()


def result_of(
    future: Future[Any], deaths: tuple[type[Exception], ...] = (BrokenProcessPool,)
) -> BatchOutcome | Exception:
    """Return what became of a batch, or why it was given up; mistakes of ours are raised.

    Args:
        future: of the batch, ended.
        deaths: what it raises where its worker died.
    """
    try:
        result: BatchOutcome | Exception = future.result()
        return result
    except deaths:
        return EnvFailure(
            f"its worker died or hung {RETRIES + 1} times, perhaps for want of memory; fewer "
            "--workers or a smaller --batch_size take less"
        )
    except _BATCH_ERRORS as error:
        return error


class _Process:
    """A worker in a process of its own; where it dies the others play on.

    Args:
        threads: torch threads.
    """

    deaths: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        # When it last ran; without a lock, which a process that hangs might hold.
        self._life = context.RawValue("d", 0.0)
        self._counts = context.RawArray("l", len(BatchOutcome()))
        self._pool = ProcessPoolExecutor(
            1,
            mp_context=context,
            initializer=begin_process,
            initargs=(threads, self._life, self._counts),
        )
        self._process: BaseProcess | None = None

    def submit(self, batch: Batch) -> Future[Any]:
        others = set(active_children())
        try:
            future = self._pool.submit(play_batch, batch)
        except BrokenProcessPool as error:  # it has died since its last batch
            future = Future()
            future.set_exception(error)
        if self._process is None:  # the pool starts it with its first work
            self._life.value = time.monotonic()
            self._process = next(iter(set(active_children()) - others), None)
        return future

    def played(self) -> BatchOutcome:
        return BatchOutcome(*self._counts)

    def is_hung(self) -> bool:
        return time.monotonic() - float(self._life.value) > HUNG_SECONDS

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


class _Actor:
    """A worker in a Ray actor."""

    def __init__(self, ray: Any, remote: Any) -> None:
        self.deaths: tuple[type[Exception], ...] = (ray.exceptions.RayActorError,)
        self._ray = ray
        self._actor = remote.remote(Worker)
        self._answer: Future[Any] = self._actor.answer.remote().future()
        self._requested_at, self._limit = time.monotonic(), SET_UP_SECONDS
        self._played = BatchOutcome()

    def submit(self, batch: Batch) -> Future[Any]:
        self._played = BatchOutcome()
        future: Future[Any] = self._actor.play.remote(batch).future()
        return future

    def played(self) -> BatchOutcome:
        return self._played

    def is_hung(self) -> bool:
        if self._answer.done():
            if self._answer.exception() is None:
                self._played = self._answer.result()
            self._answer = self._actor.answer.remote().future()
            self._requested_at, self._limit = time.monotonic(), HUNG_SECONDS
        return time.monotonic() - self._requested_at > self._limit

    def kill(self) -> None:
        self._ray.kill(self._actor)

    def close(self) -> None:
        """Do nothing: Ray ends an actor that nobody holds."""


class _RayWorker:
    """A `Worker` in a Ray actor; what breaks is returned as it is, and not in Ray's words."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._worker = make()

    def play(self, batch: Batch) -> BatchOutcome | Exception:
        try:
            return self._worker.play(batch)
        except _BATCH_ERRORS as error:
            return error

    def answer(self) -> BatchOutcome:
        """Show that the actor runs, and what became of the batch's episodes so far."""
        return self._worker.played()
