"""Players of a sweep's batches: processes of this machine, or actors of a Ray cluster.

A worker that dies is replaced and its batches given to others; so is one that hangs: each shows
every second that it runs, whatever its batches are doing.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import active_children, connection, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from agentgym_envs.errors import EnvFailure
from benchmarks.sweep.batches import (
    MOST_BATCHES,
    Batch,
    BatchKey,
    BatchOutcome,
    Report,
    no_counts,
)
from benchmarks.sweep.worker import Worker
from wrappers.vector.ray_slot import SET_UP_SECONDS, connect, deaths

_LOG = logging.getLogger(__name__)

RETRIES = 2
"""Attempts of a batch after its worker has died."""

HUNG_SECONDS = 300.0
"""A worker that has not shown for so long that it runs is killed."""

_LOOK_SECONDS = 1.0

Follow = Callable[[Batch, BatchOutcome], None]
"""Called with each batch as it begins and every second, and with its episodes so far."""

Play = Callable[[Sequence[Batch], Follow], Iterator[tuple[Batch, "BatchOutcome | Exception"]]]
"""Plays batches, and yields each with its outcome or its error as it ends."""


def over_processes(workers: int, threads: int) -> Play:
    """Play in `workers` processes of this machine, with `threads` torch threads each."""
    return partial(_play, workers, partial(_ProcessPlayer, threads))


def over_ray(address: str, cpus: float, gpus: float) -> Play:
    """Play on a Ray cluster, whose machines see the sweep's folder under the same path.

    `cpus` and `gpus` are those of each worker.

    Raises:
        MissingExtra: Ray is not installed.
    """
    ray = connect(address, "--ray")
    count = max(1, int(ray.cluster_resources().get("CPU", 1) / cpus))
    if gpus:
        count = max(1, min(count, int(ray.cluster_resources().get("GPU", 0) / gpus)))
    # A second thread of the actor answers while the first one plays.
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_concurrency=2)(_RayWorker)
    return partial(_play, count, partial(_Actor, ray, remote))


class _Player(Protocol):
    """A worker as the sweep sees it."""

    deaths: tuple[type[Exception], ...]
    """The error of its futures after its death."""

    def share(self, sharers: int) -> None: ...

    def submit(self, batch: Batch | None, more: bool) -> Future[Report]: ...

    def played(self, batch: Batch) -> BatchOutcome: ...

    def is_hung(self) -> bool: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...


@dataclass(eq=False)
class _Hand:
    """A worker, and the batches that it plays."""

    player: _Player
    batches: dict[BatchKey, Batch] = field(default_factory=dict)
    has_room: bool = True

    def take(self, batch: Batch) -> Batch:
        """Return the batch as it is given to the worker."""
        taken = {other.seat for other in self.batches.values()}
        seat = next(seat for seat in range(MOST_BATCHES) if seat not in taken)
        self.batches[batch.key] = replace(batch, seat=seat)
        return self.batches[batch.key]


def _play(
    count: int, make: Callable[[], _Player], batches: Sequence[Batch], follow: Follow
) -> Iterator[tuple[Batch, BatchOutcome | Exception]]:
    hands = [_Hand(make()) for _ in range(min(count, len(batches)))]
    waiting, deaths = list(batches)[::-1], Counter[BatchKey]()
    running: dict[Future[Report], _Hand] = {}

    def may_join(hand: _Hand) -> bool:
        """Whether the next batch may begin there: a worker that dies takes all of its own along."""
        return not hand.batches or not deaths.keys() & {waiting[-1].key, *hand.batches}

    try:
        while waiting or any(hand.batches for hand in hands):
            # What a worker without work does not ask of servers, the others do.
            num_busy = sum(bool(hand.batches) for hand in hands)
            for hand in hands:
                hand.player.share(min(len(hands), num_busy + len(waiting)))
            idle = [hand for hand in hands if hand not in running.values()]
            for hand in sorted(idle, key=lambda hand: len(hand.batches)):
                # No more is handed out than is played, so that Ctrl-C ends soon.
                batch = None
                if waiting and hand.has_room and may_join(hand):
                    batch = hand.take(waiting.pop())
                    follow(batch, BatchOutcome())
                if hand.batches:
                    more = bool(waiting) and may_join(hand)
                    running[hand.player.submit(batch, more)] = hand
            ended, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for hand in running.values():
                for batch in hand.batches.values():
                    follow(batch, hand.player.played(batch))
                if hand.player.is_hung():
                    _LOG.warning("killing a worker that hangs at %s", _names(hand))
                    hand.player.kill()
            for future in ended:
                hand = running.pop(future)
                if isinstance(future.exception(), hand.player.deaths):
                    hand.player.close()
                    hands[hands.index(hand)] = _Hand(make())
                    _LOG.warning("a worker died at %s", _names(hand))
                    deaths.update(hand.batches.keys())
                    for batch in hand.batches.values():
                        if deaths[batch.key] <= RETRIES:
                            waiting.append(batch)
                        else:
                            yield batch, EnvFailure(_DIED)
                    continue
                report = future.result()
                hand.has_room = report.has_room
                for key, result in report.ended.items():
                    yield hand.batches.pop(key), result
    finally:
        for hand in hands:
            hand.player.close()


_DIED = (
    f"its worker died or hung {RETRIES + 1} times, perhaps for want of memory; fewer --workers or "
    "a smaller --batch_size take less"
)


def _names(hand: _Hand) -> str:
    return ", ".join(batch.cell.name for batch in hand.batches.values())


class _ProcessPlayer:
    """A worker in a process of its own, which may die alone."""

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
            future = self._pool.submit(_play_here, batch, more)
        except BrokenProcessPool as error:  # it has died since its last batch
            future = Future()
            future.set_exception(error)
        if self._process is None:  # the pool starts it with its first work
            self._life.value = time.monotonic()
            self._process = next(iter(set(active_children()) - others), None)
        return future

    def played(self, batch: Batch) -> BatchOutcome:
        """Return the counts of a batch that the worker plays."""
        return BatchOutcome.from_counts(self._counts, batch.seat)

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
                self._pool.submit(_close_here)
            except BrokenProcessPool:
                pass  # it has ended
        self._pool.shutdown(wait=True)


_WORKER = Worker()


def _begin_process(threads: int, life: Any, counts: Any, sharers: Any) -> None:
    """Prepare a pool's process with its shared values, its cores, and an end with its parent's."""
    _WORKER.counts, _WORKER.sharers = counts, sharers
    os.environ["OMP_NUM_THREADS"] = str(threads)
    threading.Thread(target=_show_life, args=(life,), daemon=True).start()
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _play_here(batch: Batch | None, more: bool) -> Report:
    return _WORKER.play(batch, more=more)


def _close_here() -> None:
    _WORKER.close()


def _show_life(life: Any) -> None:
    while True:
        life.value = time.monotonic()
        time.sleep(1)


def _end_with(sentinel: int) -> None:
    # A sweep that is killed outright takes its workers along; they would wait for work for ever.
    connection.wait([sentinel])
    os._exit(1)


class _Actor:
    """A worker in a Ray actor."""

    def __init__(self, ray: Any, remote: Any) -> None:
        self.deaths = deaths(ray)
        self._ray = ray
        self._actor = remote.remote()
        self._sharers = 1
        self._counts = no_counts()
        self._answer: Future[Any] = self._actor.answer.remote(self._sharers).future()
        self._requested_at, self._limit = time.monotonic(), SET_UP_SECONDS

    def share(self, sharers: int) -> None:
        self._sharers = sharers

    def submit(self, batch: Batch | None, more: bool) -> Future[Report]:
        if batch is not None:
            BatchOutcome().put(self._counts, batch.seat)
        future: Future[Report] = self._actor.play_as.remote(self._sharers, batch, more).future()
        return future

    def played(self, batch: Batch) -> BatchOutcome:
        return BatchOutcome.from_counts(self._counts, batch.seat)

    def is_hung(self) -> bool:
        if self._answer.done():
            if self._answer.exception() is None:
                self._counts = self._answer.result()
            self._answer = self._actor.answer.remote(self._sharers).future()
            self._requested_at, self._limit = time.monotonic(), HUNG_SECONDS
        return time.monotonic() - self._requested_at > self._limit

    def kill(self) -> None:
        self._ray.kill(self._actor)

    def close(self) -> None:
        """Do nothing, since Ray ends an actor without references."""


class _RayWorker(Worker):
    """A worker in a Ray actor, which answers in a second thread."""

    def play_as(self, sharers: int, batch: Batch | None, more: bool) -> Report:
        """Play as one of several workers (`play`)."""
        self.sharers.value = sharers
        return self.play(batch, more=more)

    def answer(self, sharers: int) -> list[int]:
        """Show that the actor runs, and return its counts."""
        self.sharers.value = sharers
        return list(self.counts)
