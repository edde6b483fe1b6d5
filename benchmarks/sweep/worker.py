"""Plays one batch of a cell, in whatever process: what a pool's worker or a Ray task calls.

A process keeps the model and the environments of the batch before, since the next one mostly needs
the same. Knows cells and policies; no grid, no files but the sweep's.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, fields
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import Any

from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import SweepFolder
from trainers.arguments import EnvArguments, EpisodeArguments
from trainers.environments import Environments
from trainers.policies import (
    TEXT_POLICIES,
    OpeningArguments,
    OpenModel,
    PolicyArguments,
    TaskPlayer,
    open_model,
    open_player,
)
from trainers.results import Stopwatch


@dataclass(frozen=True)
class Batch:
    """One piece of work.

    Attributes:
        folder: the sweep's.
        cell: the cell.
        number: of the batch in the cell.
    """

    folder: str
    cell: Cell
    number: int


class Worker:
    """Plays batches one after the other."""

    def __init__(self) -> None:
        self._model: tuple[str, OpenModel] | None = None
        self._environments: tuple[Any, Environments] | None = None

    def play(self, batch: Batch) -> int:
        """Play a batch and put it into the sweep's folder.

        Returns:
            how many of its episodes failed.

        Raises:
            EnvFailure: more of them failed than `max_failed_share` allows; nothing is kept.
        """
        cell = batch.cell
        task_ids = list(cell.batches[batch.number])
        watch = Stopwatch()
        played = self._player(cell).play(
            task_ids, temperature=cell.temperature, stream=cell.stream(batch.number)
        )
        SweepFolder(batch.folder).write(cell, batch.number, played, seconds=watch.seconds)
        return sum(episode.status == "failed" for episode in played)

    def close(self) -> None:
        """Release the environments."""
        if self._environments is not None:
            self._environments[1].close()
            self._environments = None

    def _player(self, cell: Cell) -> TaskPlayer:
        settings = dict(cell.settings)
        budgets = _made(EpisodeArguments, settings)
        policy = PolicyArguments(
            policy=cell.policy,
            **{f.name: settings[f.name] for f in fields(OpeningArguments) if f.name in settings},
        )
        environments = self._open_environments(cell, settings)
        model = None
        if cell.policy not in TEXT_POLICIES and not policy.is_address:
            if self._model is None or self._model[0] != cell.policy:
                self._model = None  # the old one goes before the new one comes
                self._model = (cell.policy, open_model(policy, budgets))
            model = self._model[1]
        return open_player(policy, environments, budgets, seed=cell.seed, model=model)

    def _open_environments(self, cell: Cell, settings: dict[str, Any]) -> Environments:
        key = (cell.env_id, cell.max_turns, cell.split)
        if self._environments is None or self._environments[0] != key:
            self.close()
            arguments = _made(EnvArguments, settings)
            arguments.env, arguments.split = [cell.env_id], cell.split
            arguments.max_turns, arguments.num_envs = cell.max_turns, cell.batch_size
            self._environments = (key, Environments(arguments))
        return self._environments[1]


def _made(kind: type, settings: dict[str, Any]) -> Any:
    """Build an arguments dataclass from those of the settings that it knows."""
    return kind(**{f.name: settings[f.name] for f in fields(kind) if f.name in settings})


_WORKER = Worker()


def begin_process(threads: int) -> None:
    """Prepare a pool's process: its share of the cores, and an end with its parent's."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def play_batch(batch: Batch) -> int:
    """Play a batch in this process; see `Worker.play`."""
    return _WORKER.play(batch)


def _end_with(sentinel: int) -> None:
    # A sweep that is killed outright takes its workers along; they would wait for work for ever.
    wait([sentinel])
    os._exit(1)
