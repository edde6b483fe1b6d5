"""Plays what of a sweep is not played yet, over processes or a Ray cluster, and shows how far."""

from __future__ import annotations

import logging
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from agentgym_envs.errors import EnvFailure, MissingExtra
from benchmarks.names import short_names
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.worker import Batch, Worker, begin_process, play_batch
from trainers.options.errors import UsageError
from trainers.runs.progress_bar import episode_progress

_LOG = logging.getLogger(__name__)

_GIVEN_UP = (EnvFailure, UsageError)
"""What ends a batch and not the sweep: machinery that broke, a policy that cannot be opened."""

RETRIES = 2
"""How often a batch is given to another worker after its own has died."""

MOST_BROKEN = 3
"""Batches whose machinery broke, one after the other, that end the sweep."""

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
        is_cut_short: so many broke one after the other that the rest was not begun.
    """

    num_played: int = 0
    failed: int = 0
    broken: list[str] = field(default_factory=list)
    is_cut_short: bool = False


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

        in_a_row = 0
        for batch, result in play(missing, began):
            running.remove(batch)
            in_a_row = in_a_row + 1 if isinstance(result, EnvFailure) else 0
            episodes = len(batch.cell.batches[batch.number])
            if isinstance(result, Exception):
                outcome.broken.append(f"{batch.cell.name}, batch {batch.number}: {result}")
                _LOG.warning("given up: %s", outcome.broken[-1])
            else:
                outcome.num_played += episodes
                outcome.failed += result
            bar.update(task, advance=episodes, description=_description(running, names))
            if in_a_row >= MOST_BROKEN:
                outcome.is_cut_short = True
                break
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
        # A pool for each worker: where one dies, the others play on.
        free = [_pool(threads) for _ in range(min(workers, len(batches)))]
        waiting, deaths = list(batches)[::-1], Counter[tuple[str, int]]()
        running: dict[Future[int], tuple[Batch, ProcessPoolExecutor]] = {}
        try:
            while waiting or running:
                # No more is handed out than is played, so that Ctrl-C ends soon.
                while waiting and free:
                    batch, pool = waiting.pop(), free.pop()
                    running[pool.submit(play_batch, batch)] = batch, pool
                    if not deaths[batch.cell.name, batch.number]:
                        began(batch)
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    batch, pool = running.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        pool.shutdown()
                        pool = _pool(threads)
                        deaths[batch.cell.name, batch.number] += 1
                        if deaths[batch.cell.name, batch.number] <= RETRIES:
                            _LOG.warning("a worker died at %s; once more", batch.cell.name)
                            waiting.append(batch)
                            free.append(pool)
                            continue
                    free.append(pool)
                    yield batch, result_of(future)
        finally:
            for pool in [*free, *(pool for _, pool in running.values())]:
                pool.shutdown(wait=True, cancel_futures=True)

    return play


def _pool(threads: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(
        1, mp_context=context, initializer=begin_process, initargs=(threads,)
    )


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
    # Ray starts an actor that has died again, and gives it the batch once more.
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=-1, max_task_retries=RETRIES)(
        _RayWorker
    )

    def play(batches: Sequence[Batch], began: Began) -> Iterator[tuple[Batch, int | Exception]]:
        free = [remote.remote(Worker) for _ in range(min(count, len(batches)))]
        waiting = list(batches)[::-1]
        running: dict[Any, tuple[Batch, Any]] = {}
        while waiting or running:
            while waiting and free:
                batch, actor = waiting.pop(), free.pop()
                running[actor.play.remote(batch)] = batch, actor
                began(batch)
            ended, _ = ray.wait(list(running))
            batch, actor = running.pop(ended[0])
            free.append(actor)
            try:
                yield batch, ray.get(ended[0])
            except ray.exceptions.RayActorError as error:
                yield batch, EnvFailure(f"its worker died {RETRIES + 1} times: {error}")

    return play


class _RayWorker:
    """A `Worker` in a Ray actor; what breaks is returned as it is, and not in Ray's words."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._worker = make()

    def play(self, batch: Batch) -> int | Exception:
        try:
            return int(self._worker.play(batch))  # type: ignore[attr-defined]
        except _GIVEN_UP as error:
            return error


def result_of(future: Future[int]) -> int | Exception:
    """Return a batch's failed episodes, or why it was given up; mistakes of ours are raised."""
    try:
        return future.result()
    except BrokenProcessPool:
        return EnvFailure(
            f"its worker died {RETRIES + 1} times, perhaps for want of memory; fewer --workers or "
            "a smaller --batch_size take less"
        )
    except _GIVEN_UP as error:
        return error
