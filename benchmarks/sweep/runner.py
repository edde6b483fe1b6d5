"""Plays the missing batches of a sweep, and shows the progress."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from agentgym_envs.errors import EnvFailure
from benchmarks.names import short_names
from benchmarks.sweep.batches import Batch, BatchKey, BatchOutcome
from benchmarks.sweep.opening import policy_arguments
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.players import Play
from benchmarks.sweep.store import SweepFolder
from trainers.options.errors import BudgetSpent, RefusedForGood, as_options
from trainers.runs.progress_bar import EpisodeProgress

_LOG = logging.getLogger(__name__)

MOST_BROKEN = 3
"""Batches whose machinery broke, one after the other, that end the sweep."""


@dataclass
class Outcome:
    """The outcome of one call of the sweep.

    Attributes:
        failed: episodes of `num_played` that are recorded as failed.
        broken: the errors of abandoned batches, which a further call plays again.
        is_cut_short: so many broke one after the other that the rest was not begun.
        budget_spent: the message where `max_cost` is spent.
        refused: the message of a server that refuses every request.
    """

    num_played: int = 0
    failed: int = 0
    broken: list[str] = field(default_factory=list)
    is_cut_short: bool = False
    budget_spent: str = ""
    refused: str = ""


def play_missing(folder: SweepFolder, cells: Sequence[Cell], play: Play) -> Outcome:
    """Play a folder's missing batches, and show the progress of each policy.

    Where `max_cost` is spent, the policies that cost nothing play on.
    """
    missing = in_turns(
        [Batch(str(folder.path), cell, number) for cell in cells for number in folder.missing(cell)]
    )
    outcome = Outcome()
    with _Progress(folder, cells, missing) as progress:
        left = _play(missing, play, progress, outcome)
        if outcome.budget_spent:
            free = [batch for batch in left if not policy_arguments(batch.cell).is_served]
            _play(free, play, progress, outcome)
    return outcome


def _play(
    batches: Sequence[Batch], play: Play, progress: _Progress, outcome: Outcome
) -> list[Batch]:
    """Play batches, add their results to `outcome`, and return those without a result."""
    left = {batch.key: batch for batch in batches}
    in_a_row = 0
    for batch, result in play(batches, progress.follow):
        if isinstance(result, BudgetSpent):  # of every batch of the worker, paid for or not
            outcome.budget_spent = as_options(str(result))
            break
        del left[batch.key]
        in_a_row = in_a_row + 1 if isinstance(result, EnvFailure) else 0
        if isinstance(result, RefusedForGood):
            outcome.refused = f"{batch.cell.policy}: {as_options(str(result))}"
            break
        if isinstance(result, Exception):
            progress.gave_up(batch)
            reason = as_options(str(result))
            outcome.broken.append(f"{batch.cell.name}, batch {batch.number}: {reason}")
            _LOG.warning("abandoned: %s", outcome.broken[-1])
        else:
            progress.follow(batch, result)
            outcome.num_played += result.failed + result.scored
            outcome.failed += result.failed
        if in_a_row >= MOST_BROKEN:
            outcome.is_cut_short = True
            break
    return [*left.values()]


def in_turns(batches: Sequence[Batch]) -> list[Batch]:
    """Put the batches of policies behind servers in front, and let these take turns.

    Each server's model bears a pace of its own; and when a budget is spent, their finished batches
    differ by one at most. A model that is loaded here plays all of its batches in one go.
    """
    cells = {batch.cell.policy: batch.cell for batch in batches}
    served = {policy for policy, cell in cells.items() if policy_arguments(cell).is_served}
    policies = list(cells)
    grid = list(dict.fromkeys(map(_column, batches)))

    def place(batch: Batch) -> tuple[bool, int, int, int]:
        policy = policies.index(batch.cell.policy)
        column = grid.index(_column(batch))
        if batch.cell.policy in served:
            return False, column, batch.number, policy
        return True, policy, column, batch.number

    return sorted(batches, key=place)


def _column(batch: Batch) -> tuple[str, int | None, int]:
    return batch.cell.scenario, batch.cell.max_turns, batch.cell.seed


class _Progress:
    """Shows the progress of each policy of a sweep: a context."""

    def __init__(
        self, folder: SweepFolder, cells: Sequence[Cell], missing: Sequence[Batch]
    ) -> None:
        costs = folder.costs
        self._names = names = short_names([cell.policy for cell in cells], least=2)
        self._seen: dict[BatchKey, BatchOutcome] = {}
        totals = Counter[str]()
        for cell in cells:
            totals[names[cell.policy]] += len(cell.tasks) * cell.samples

        def spent() -> dict[str, float | None]:
            return {names.get(payer, payer): cost for payer, cost in costs.by_payer().items()}

        self._shown = EpisodeProgress(totals, spent=spent, transient=False)
        to_play = Counter(batch.cell.name for batch in missing for _ in range(_size(batch)))
        for cell in cells:
            self._count_earlier(folder, cell, len(cell.tasks) * cell.samples - to_play[cell.name])

    def _count_earlier(self, folder: SweepFolder, cell: Cell, episodes: int) -> None:
        """Count the episodes of a cell's finished batches, as far as they can be read."""
        ends = Counter(
            "failed" if episode.status == "failed" else "won" if episode.success else "lost"
            for batch, _ in folder.batches(cell)
            for episode in batch
        )
        self._shown.add(
            self._names[cell.policy],
            episodes=episodes,
            won=ends["won"],
            lost=ends["lost"],
            failed=ends["failed"],
            earlier=True,
        )

    def follow(self, batch: Batch, outcome: BatchOutcome) -> None:
        """Record the counts of a batch under way."""
        before = self._seen.get(batch.key, BatchOutcome())
        self._seen[batch.key] = outcome
        failed, scored, successes = (now - then for now, then in zip(outcome, before, strict=True))
        self._shown.add(
            self._names[batch.cell.policy],
            episodes=failed + scored,
            won=successes,
            lost=scored - successes,
            failed=failed,
        )

    def gave_up(self, batch: Batch) -> None:
        """Count the episodes of an abandoned batch."""
        self.follow(batch, BatchOutcome())
        self._shown.add(self._names[batch.cell.policy], episodes=_size(batch))

    def __enter__(self) -> Self:
        self._shown.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._shown.__exit__(*error)


def _size(batch: Batch) -> int:
    return len(batch.cell.batches[batch.number])
