"""Plays what of a sweep is not played yet, over processes or a Ray cluster, and shows how far."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from importlib import import_module

from agentgym_envs.errors import EnvFailure
from benchmarks.names import short_names
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.worker import Batch, Worker, begin_process, play_batch
from trainers.options.errors import UsageError
from trainers.runs.progress_bar import episode_progress

_LOG = logging.getLogger(__name__)

_GIVEN_UP = (EnvFailure, UsageError)
"""What ends a batch and not the sweep: machinery that broke, a policy that cannot be opened."""

Began = Callable[[Batch], None]
"""Is told of each batch that begins."""

Play = Callable[[Sequence[Batch], Began], Iterator[tuple[Batch, "int | Exception"]]]
"""Plays batches, and yields each as it ends: with its failed episodes, or with what broke."""


@dataclass
class Outcome:
    """How a call of the sweep went.

    Attributes:
        num_played: episodes played in this call.
        failed: of them, those that are on record as failed.
        broken: what went wrong with batches that were given up; a further call plays them again.
    """

    num_played: int = 0
    failed: int = 0
    broken: list[str] = field(default_factory=list)


def play_missing(folder: SweepFolder, cells: Sequence[Cell], play: Play) -> Outcome:
    """Play every batch that is not there yet, with a progress bar.

    Args:
        folder: the sweep's.
        cells: what the sweep holds.
        play: where batches are played: `over_processes` or `over_ray`.
    """
    missing = [
        Batch(str(folder.path), cell, number) for cell in cells for number in folder.missing(cell)
    ]
    total = sum(len(cell.tasks) * cell.samples for cell in cells)
    ahead = sum(len(batch.cell.batches[batch.number]) for batch in missing)
    outcome = Outcome()
    names = short_names([cell.policy for cell in cells], least=2)
    running: list[Batch] = []
    with episode_progress() as bar:
        task = bar.add_task("sweep", total=total, completed=total - ahead)

        def began(batch: Batch) -> None:
            running.append(batch)
            bar.update(task, description=_description(running, names))

        for batch, result in play(missing, began):
            running.remove(batch)
            episodes = len(batch.cell.batches[batch.number])
            if isinstance(result, Exception):
                outcome.broken.append(f"{batch.cell.name}, batch {batch.number}: {result}")
                _LOG.warning("given up: %s", outcome.broken[-1])
            else:
                outcome.num_played += episodes
                outcome.failed += result
            bar.update(task, advance=episodes, description=_description(running, names))
    return outcome


def _description(running: Sequence[Batch], names: Mapping[str, str]) -> str:
    """Name what is being played, the longest under way first: `a/model in BabyAI, 5 turns`."""
    cells = list({batch.cell.name: batch.cell for batch in running}.values())
    if not cells:
        return "sweep"
    limit = "" if cells[0].max_turns is None else f", {cells[0].max_turns} turns"
    more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
    return f"{names[cells[0].policy]} in {cells[0].scenario}{limit}, seed {cells[0].seed}{more}"


def over_processes(workers: int, threads: int) -> Play:
    """Play in processes of this machine.

    Args:
        workers: processes.
        threads: torch threads of each.
    """

    def play(batches: Sequence[Batch], began: Began) -> Iterator[tuple[Batch, int | Exception]]:
        if not batches:
            return
        context = multiprocessing.get_context("spawn")
        count = min(workers, len(batches))
        with ProcessPoolExecutor(
            count, mp_context=context, initializer=begin_process, initargs=(threads,)
        ) as pool:
            waiting = list(batches)[::-1]
            running: dict[Future[int], Batch] = {}
            try:
                while waiting or running:
                    # No more is handed out than is played, so that Ctrl-C ends soon.
                    while waiting and len(running) < count:
                        batch = waiting.pop()
                        running[pool.submit(play_batch, batch)] = batch
                        began(batch)
                    ended, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in ended:
                        yield running.pop(future), result_of(future)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    return play


def over_ray(address: str, cpus: float, gpus: float) -> Play:
    """Play on a Ray cluster, whose machines see the sweep's folder under the same path.

    Args:
        address: of the cluster, as `ray.init` takes it; `"local"` starts one here.
        cpus: processor cores of each worker.
        gpus: GPUs of each worker.

    Raises:
        ImportError: Ray is not installed.
    """
    try:
        ray = import_module("ray")
        actor_pool = import_module("ray.util").ActorPool
    except ImportError as error:
        raise ImportError('--ray needs Ray: pip install "agentgym-envs[ray]"') from error
    ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    count = max(1, int(ray.cluster_resources().get("CPU", 1) / cpus))
    if gpus:
        count = max(1, min(count, int(ray.cluster_resources().get("GPU", 0) / gpus)))
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=-1)(_RayWorker)

    def play(batches: Sequence[Batch], began: Began) -> Iterator[tuple[Batch, int | Exception]]:
        pool = actor_pool([remote.remote(Worker) for _ in range(min(count, max(1, len(batches))))])
        waiting = list(batches)[::-1]
        while waiting or pool.has_next():
            while waiting and pool.has_free():
                batch = waiting.pop()
                pool.submit(lambda actor, batch: actor.play.remote(batch), batch)
                began(batch)
            yield pool.get_next_unordered()

    return play


class _RayWorker:
    """A `Worker` in a Ray actor; what breaks is returned, for Ray would end the whole pool."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._worker = make()

    def play(self, batch: Batch) -> tuple[Batch, int | Exception]:
        try:
            return batch, self._worker.play(batch)  # type: ignore[attr-defined]
        except _GIVEN_UP as error:
            return batch, error


def result_of(future: Future[int]) -> int | Exception:
    """Return a batch's failed episodes, or why it was given up; mistakes of ours are raised."""
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise EnvFailure(
            "a worker of the sweep died, perhaps for want of memory; call the same command again "
            "to go on, with fewer --workers"
        ) from error
    except _GIVEN_UP as error:
        return error
