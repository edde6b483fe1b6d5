"""Plays one batch of a cell, in whatever process: what a pool's worker or a Ray task calls.

A process keeps the model and the environments of the batch before, since the next one mostly needs
the same.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field, fields
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NamedTuple

from agentgym_envs import resolve_env_id
from agentgym_envs.secrets import hidden, take_over
from agentgym_envs.trajectory import Trajectory
from benchmarks.sweep.fingerprints import policy_fingerprint
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import SweepFolder
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.errors import UsageError
from trainers.options.policies import (
    ADDRESS,
    PolicyArguments,
    PolicyLoadingArguments,
    check_floor,
    is_text_policy,
)
from trainers.policies.open import (
    OpenModel,
    check_model,
    open_environments,
    open_model,
    open_policy,
    open_rollout,
)
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout

if TYPE_CHECKING:
    from trainers.backends.json_client import JSONClient

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Batch:
    """One piece of work.

    Attributes:
        folder: the sweep's.
        cell: the cell.
        number: of the batch in the cell.
        workers: that play at once, and share what `max_requests` allows.
        secrets: what the cell hides, for the process that plays.
    """

    folder: str
    cell: Cell
    number: int
    workers: int = 1
    secrets: Mapping[str, str] = field(default_factory=hidden, repr=False, compare=False)


class BatchOutcome(NamedTuple):
    """What became of those of a batch's episodes that have ended.

    Attributes:
        failed: those whose machinery broke.
        scored: the others.
        successes: those of them that succeeded.
    """

    failed: int = 0
    scored: int = 0
    successes: int = 0


class Worker:
    """Plays batches one after the other.

    Args:
        counts: takes the numbers of `BatchOutcome` of the batch under way.
    """

    def __init__(self, counts: MutableSequence[int] | None = None) -> None:
        self.counts: MutableSequence[int] = [0, 0, 0] if counts is None else counts
        self._model: tuple[str, OpenModel] | None = None
        self._clients: dict[str, JSONClient] = {}
        self._environments: tuple[Any, Environments] | None = None

    def play(self, batch: Batch) -> BatchOutcome:
        """Play a batch and put it into the sweep's folder.

        Whatever is raised, the answers of a server are kept for the next call.

        Raises:
            EnvFailure: more of its episodes failed than `max_failed_share` allows; no episode is
                kept.
            UsageError: the environment or the policy cannot be opened, or the cell is not this
                sweep's any more; no episode is kept.
            BudgetSpent: the sweep has spent what `max_cost` allows.
        """
        take_over(batch.secrets)
        cell = batch.cell
        task_ids = list(cell.batches[batch.number])
        start = time.perf_counter()
        self.counts[:] = BatchOutcome()
        folder = SweepFolder(batch.folder)
        rollout = self._rollout(folder, cell, batch.workers)
        ledger = rollout.policy.ledger
        if ledger is not None:
            ledger.keep_in(
                folder.answers(cell, batch.number), costs=folder.costs, payer=cell.policy
            )
        trajectories = rollout.run(
            task_ids,
            temperature=cell.temperature,
            stream=cell.stream(batch.number),
            on_trajectory=self._count,
        )
        folder.write(
            cell,
            batch.number,
            trajectories,
            seconds=time.perf_counter() - start,
            cost=None if ledger is None else ledger.spent,
        )
        if ledger is not None:
            ledger.forget()
        return self.played()

    def played(self) -> BatchOutcome:
        """Return what became of the batch that is played, or was played last, so far."""
        return BatchOutcome(*self.counts)

    def _count(self, episode: Trajectory) -> None:
        is_scored = episode.status != "failed"
        self.counts[0] += not is_scored
        self.counts[1] += is_scored
        self.counts[2] += is_scored and episode.success

    def close(self) -> None:
        """Release the environments."""
        if self._environments is not None:
            self._environments[1].close()
            self._environments = None

    def _rollout(self, folder: SweepFolder, cell: Cell, workers: int) -> Rollout:
        policy, budgets = _policy(cell, workers), _made(EpisodeArguments, cell)
        num_envs = cell.batch_size
        if policy.is_served:  # as `open_environments` does
            num_envs = min(num_envs, policy.max_requests)
        environments = self._open_environments(cell, num_envs)
        model = self._open_model(cell, policy, budgets) if _has_weights(policy) else None
        client = self._open_client(folder, cell, policy) if policy.is_served else None
        return open_rollout(
            policy, environments, budgets, seed=cell.seed, model=model, client=client
        )

    def _open_client(self, folder: SweepFolder, cell: Cell, policy: PolicyArguments) -> JSONClient:
        # Kept from batch to batch, for its connections and for the pace that the model bears.
        if cell.policy not in self._clients:
            from trainers.policies.api import open_client

            _check_same(cell, policy_fingerprint(cell.policy, policy.named))
            client = self._clients[cell.policy] = open_client(policy)
            client.pace.share(folder.limits(policy.endpoint))
            if pause := client.pace.pause:
                _LOG.warning("%s is not asked for %.0f s: its rate limit", cell.policy, pause)
        return self._clients[cell.policy]

    def _open_environments(self, cell: Cell, num_envs: int) -> Environments:
        key = (cell.module, cell.env_id, cell.max_turns, cell.split, cell.settings, num_envs)
        if self._environments is None or self._environments[0] != key:
            self.close()
            self._environments = (key, _environments(cell, num_envs=num_envs))
        return self._environments[1]

    def _open_model(
        self, cell: Cell, policy: PolicyArguments, budgets: EpisodeArguments
    ) -> OpenModel:
        if self._model is None or self._model[0] != cell.policy:
            self._model = None  # the old one goes before the new one comes
            _check_same(cell, policy_fingerprint(cell.policy))
            self._model = (cell.policy, open_model(policy, budgets))
        return self._model[1]


def check_playable(cells: Sequence[Cell]) -> None:
    """Check that the environments and policies of cells can be opened, without loading weights.

    Raises:
        UsageError: one cannot be opened.
    """
    floors: dict[str, tuple[str, ...]] = {}
    for cell in {cell.scenario: cell for cell in cells}.values():
        environments = _environments(cell, num_envs=1)
        floors.update(environments.floors)
        environments.close()
    for cell in {cell.policy: cell for cell in cells}.values():
        check_floor(cell.policy, floors)
        policy = _policy(cell)
        if policy.is_served:
            open_policy(policy, _made(EpisodeArguments, cell), seed=cell.seed)
        elif _has_weights(policy):
            check_model(policy)


def is_served(cell: Cell) -> bool:
    """Return whether a cell's policy is behind a server."""
    return _policy(cell).is_served


def _policy(cell: Cell, workers: int = 1) -> PolicyArguments:
    """Return the options of a cell's policy, without those that concern others of the sweep.

    Args:
        cell: whose policy.
        workers: that share what `max_requests` allows.
    """
    loading: PolicyLoadingArguments = _made(PolicyLoadingArguments, cell)
    is_named = cell.policy in loading.named
    others: dict[str, Any] = {"api_model" if is_named else "policies": None}
    others["max_requests"] = max(1, loading.max_requests // workers)
    if not is_named and not cell.policy.startswith(ADDRESS):
        others["max_cost"] = None
    return PolicyArguments(**{**vars(loading), **others}, policy=cell.policy)


def _check_same(cell: Cell, fingerprint: str) -> None:
    if cell.fingerprint is not None and fingerprint != cell.fingerprint:
        raise UsageError(
            f"{cell.policy} has other files or another endpoint than when the sweep began"
        )


def _has_weights(policy: PolicyArguments) -> bool:
    return not is_text_policy(policy.policy) and not policy.is_served


def _environments(cell: Cell, *, num_envs: int) -> Environments:
    arguments = _made(EnvArguments, cell)
    env = f"{cell.module}:{cell.env_id}" if cell.module else cell.env_id
    arguments.env, arguments.split = [resolve_env_id(env)], cell.split
    arguments.max_turns, arguments.num_envs = cell.max_turns, num_envs
    return open_environments(arguments)


def _made(kind: type, cell: Cell) -> Any:
    """Build an arguments dataclass from those of the cell's settings that are its fields."""
    settings = dict(cell.settings)
    return kind(**{f.name: settings[f.name] for f in fields(kind) if f.name in settings})


_WORKER = Worker()


def begin_process(threads: int, life: Any, counts: Any) -> None:
    """Prepare a pool's process: its share of the cores, and an end with its parent's.

    Args:
        threads: torch threads.
        life: a shared value, which gets the monotonic clock's time every second.
        counts: a shared array, which gets the counts of the batch under way.
    """
    _WORKER.counts = counts
    os.environ["OMP_NUM_THREADS"] = str(threads)
    threading.Thread(target=_show, args=(life,), daemon=True).start()
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def play_batch(batch: Batch) -> BatchOutcome:
    """Play a batch in this process; see `Worker.play`."""
    return _WORKER.play(batch)


def _show(life: Any) -> None:
    while True:
        life.value = time.monotonic()
        time.sleep(1)


def _end_with(sentinel: int) -> None:
    # A sweep that is killed outright takes its workers along; they would wait for work for ever.
    wait([sentinel])
    os._exit(1)
