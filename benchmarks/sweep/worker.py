"""The worker that plays batches of cells, in a pool's process or in a Ray actor.

A model that is loaded here plays one batch after the other. Of policies behind servers, a batch
begins while the last episodes of the one before are played, so that the requests that are allowed
are made. The model, the connections and the environments are kept, since the next batch mostly
needs the same.
"""

from __future__ import annotations

import logging
import time
from collections.abc import MutableSequence
from ctypes import c_long
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentgym_envs.errors import EnvFailure, NoExpert
from agentgym_envs.machinery.secrets import take_over
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.sweep.batches import (
    MOST_BATCHES,
    Batch,
    BatchKey,
    BatchOutcome,
    Report,
    no_counts,
)
from benchmarks.sweep.fingerprints import policy_fingerprint
from benchmarks.sweep.opening import (
    build_arguments,
    cell_environments,
    check_same,
    has_weights,
    policy_arguments,
)
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import SweepFolder
from trainers.ledger import Ledger
from trainers.options.arguments import EpisodeArguments
from trainers.options.errors import BudgetSpent, UsageError
from trainers.options.policies import PolicyArguments
from trainers.policies.open import OpenModel, open_model, open_rollout
from trainers.rollout.env_slots import Capacity, Pause, wait_for
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Batch as Episodes

if TYPE_CHECKING:
    from trainers.backends.json_client import JSONClient

_LOG = logging.getLogger(__name__)

_LOOK = Pause(seconds=1.0)
"""Interval at which a waiting worker looks whether its share has changed."""

_BATCH_ERRORS = (EnvFailure, UsageError, NoExpert, BudgetSpent)
"""Errors that end a batch: of machinery, of a policy's loading, of a task without an expert.

A budget that is spent ends the sweep.
"""


@dataclass(eq=False)
class _Play:
    """A batch under way, with `max_requests` 0 where no server is asked."""

    batch: Batch
    folder: SweepFolder
    episodes: Episodes
    environments: Environments
    ledger: Ledger | None
    max_requests: int
    seconds: float

    def take_turns(self) -> bool:
        """Play the turns whose answers have come. False once every episode has ended."""
        turns = self.episodes.next_turns()
        for group, actions in turns or ():
            self.episodes.record_turns(group, group.env.step(actions))
        return turns is not None

    def finish(self) -> None:
        """Put the episodes into the sweep's folder."""
        self.folder.write(
            self.batch.cell,
            self.batch.number,
            self.episodes.finish(),
            seconds=self.seconds,
            cost=None if self.ledger is None else self.ledger.spent,
            max_turns=self.environments.max_turns,
        )
        if self.ledger is not None:
            self.ledger.forget()


class Worker:
    """Plays batches, with `counts` by seat (`BatchOutcome`) and `sharers` in shared memory."""

    def __init__(self) -> None:
        self.counts: MutableSequence[int] = no_counts()
        self.sharers = c_long(1)  # workers that share `max_requests`; others may write it
        self._plays: list[_Play] = []
        self._ended: dict[BatchKey, BatchOutcome | Exception] = {}
        self._capacity = Capacity(0)
        self._share = 0
        self._measured_at = 0.0
        self._model: tuple[str, OpenModel] | None = None
        self._clients: dict[str, JSONClient] = {}
        self._environments: list[tuple[Any, Environments]] = []

    def play(self, batch: Batch | None, *, more: bool = False) -> Report:
        """Begin a batch beside those under way, and play until one of them has ended.

        A batch that ends is put into the sweep's folder, or reports an error: more episodes failed
        than `max_failed_share` allows, the environment or policy cannot be opened, another sweep
        has the cell, or `max_cost` is spent. Then no episode is kept, but a server's answers are.

        Args:
            batch: the batch; None plays on.
            more: another batch waits, so return as soon as there is room for it.
        """
        self._measured_at = time.perf_counter()
        try:
            if batch is not None:
                self._begin(batch)
            while self._plays and not self._ended:
                self._take_share()
                self._take_turns()
                if self._ended or (more and self._has_room()):
                    break
                wait_for([_LOOK, *(play.episodes.pause for play in self._plays)])
        except BaseException:
            self._abandon()
            raise
        ended, self._ended = self._ended, {}
        return Report(ended, self._has_room())

    def close(self) -> None:
        """Give up the batches under way, and release the environments."""
        self._abandon()
        while self._environments:
            self._environments.pop()[1].close()

    def _has_room(self) -> bool:
        if not self._plays:
            return True
        return (
            len(self._plays) < MOST_BATCHES
            and self._capacity.free > 0
            and all(play.max_requests and not play.episodes.num_waiting for play in self._plays)
        )

    def _take_share(self) -> None:
        """Bound episodes and requests under way by this worker's share of `max_requests`."""
        max_requests = max(play.max_requests for play in self._plays)
        share = max(1, max_requests // self.sharers.value)
        self._capacity.free += share - self._share
        self._share = share
        for client in self._clients.values():
            client.pace.resize(share)

    def _take_turns(self) -> None:
        """Play on, as far as answers have come."""
        for play in list(self._plays):
            try:
                is_under_way = play.take_turns()
                self._measure()
                if not is_under_way:
                    play.finish()
                    self._end(play, BatchOutcome.from_counts(self.counts, play.batch.seat))
            except BudgetSpent as error:  # it is the whole sweep's
                for one in list(self._plays):
                    self._end(one, error)
                return
            except _BATCH_ERRORS as error:
                self._end(play, error)

    def _measure(self) -> None:
        """Share the time since the last call out among the batches, by their live episodes."""
        now = time.perf_counter()
        live = {play: max(1, len(play.episodes.live)) for play in self._plays}
        for play, count in live.items():
            play.seconds += (now - self._measured_at) * count / sum(live.values())
        self._measured_at = now

    def _end(self, play: _Play, outcome: BatchOutcome | Exception) -> None:
        play.episodes.abandon()
        self._plays.remove(play)
        self._ended[play.batch.key] = outcome

    def _abandon(self) -> None:
        while self._plays:
            self._plays.pop().episodes.abandon()

    # Beginning --------------------------------------------------------------------------------

    def _begin(self, batch: Batch) -> None:
        take_over(batch.secrets)

        def count(episode: Trajectory) -> None:
            failed, scored, successes = BatchOutcome.from_counts(self.counts, batch.seat)
            is_scored = episode.status != "failed"
            is_success = is_scored and episode.success
            outcome = failed + (not is_scored), scored + is_scored, successes + is_success
            BatchOutcome(*outcome).put(self.counts, batch.seat)

        BatchOutcome().put(self.counts, batch.seat)
        cell, folder = batch.cell, SweepFolder(batch.folder)
        policy, budgets = policy_arguments(cell), build_arguments(EpisodeArguments, cell)
        num_envs = cell.batch_size
        if policy.is_served:  # as `open_environments` does
            num_envs = min(num_envs, policy.max_requests)
        try:
            environments = self._open_environments(cell, num_envs)
            rollout = open_rollout(
                policy,
                environments,
                budgets,
                seed=cell.seed,
                model=self._open_model(cell, policy, budgets) if has_weights(policy) else None,
                client=self._open_client(folder, cell, policy) if policy.is_served else None,
            )
            ledger = rollout.policy.ledger
            if ledger is not None:
                answers = folder.answers(cell, batch.number)
                ledger.keep_in(answers, costs=folder.costs, payer=cell.policy)
            episodes = Episodes(
                rollout,
                list(cell.batches[batch.number]),
                temperature=cell.temperature,
                stream=cell.stream(batch.number),
                on_trajectory=count,
                capacity=self._capacity if policy.is_served else None,
            )
        except _BATCH_ERRORS as error:
            self._ended[batch.key] = error
            return
        seconds = time.perf_counter() - self._measured_at
        self._measured_at += seconds
        max_requests = policy.max_requests if policy.is_served else 0
        self._plays.append(
            _Play(batch, folder, episodes, environments, ledger, max_requests, seconds)
        )

    def _open_client(self, folder: SweepFolder, cell: Cell, policy: PolicyArguments) -> JSONClient:
        # Kept from batch to batch, for its connections and for the pace that the model bears.
        if cell.policy not in self._clients:
            from trainers.policies.api import open_client

            check_same(cell, policy_fingerprint(cell.policy, policy.named))
            client = self._clients[cell.policy] = open_client(policy)
            client.pace.share(folder.limits(policy.endpoint))
            if pause := client.pace.pause:
                _LOG.warning("%s pauses for %.0f s: its rate limit", cell.policy, pause)
        return self._clients[cell.policy]

    def _open_environments(self, cell: Cell, num_envs: int) -> Environments:
        key = (cell.module, cell.env_id, cell.max_turns, cell.split, cell.settings, num_envs)
        used = [play.environments for play in self._plays]
        free = [entry for entry in self._environments if entry[1] not in used]
        for other, environments in free:
            if other == key:
                return environments
        for entry in free:
            self._environments.remove(entry)
            entry[1].close()
        self._environments.append((key, cell_environments(cell, num_envs=num_envs)))
        return self._environments[-1][1]

    def _open_model(
        self, cell: Cell, policy: PolicyArguments, budgets: EpisodeArguments
    ) -> OpenModel:
        if self._model is None or self._model[0] != cell.policy:
            self._model = None  # the old one goes before the new one comes
            check_same(cell, policy_fingerprint(cell.policy, template=policy))
            self._model = (cell.policy, open_model(policy, budgets))
        return self._model[1]
