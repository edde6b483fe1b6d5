"""Plays the missing batches of a sweep, and shows the progress."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentgym_envs.errors import EnvFailure
from benchmarks.names import short_names
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.players import Play
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.worker import Batch
from trainers.options.errors import BudgetSpent
from trainers.runs.progress_bar import EpisodeProgress

_LOG = logging.getLogger(__name__)

MOST_BROKEN = 3
"""Batches whose machinery broke, one after the other, that end the sweep."""


@dataclass
class Outcome:
    """How a call of the sweep went.

    Attributes:
        num_played: episodes played in this call.
        failed: of them, those that are on record as failed.
        broken: what went wrong with batches that were given up; a further call plays them again.
        is_cut_short: so many broke one after the other that the rest was not begun.
        budget_spent: what `max_cost` allows is spent, and the rest was not begun; in words.
    """

    num_played: int = 0
    failed: int = 0
    broken: list[str] = field(default_factory=list)
    is_cut_short: bool = False
    budget_spent: str = ""


def play_missing(folder: SweepFolder, cells: Sequence[Cell], play: Play) -> Outcome:
    """Play every batch that is not there yet, with a progress bar.

    Args:
        folder: the sweep's.
        cells: what the sweep holds.
        play: where batches are played: `over_processes` or `over_ray` in `players`.
    """
    missing = [
        Batch(str(folder.path), cell, number) for cell in cells for number in folder.missing(cell)
    ]
    total = sum(len(cell.tasks) * cell.samples for cell in cells)
    ahead = sum(len(batch.cell.batches[batch.number]) for batch in missing)
    outcome = Outcome()
    names = short_names([cell.policy for cell in cells], least=2)
    running: list[Batch] = []
    costs = folder.costs
    with EpisodeProgress(
        "sweep", total, spent=lambda: costs.total() or None, transient=False
    ) as progress:
        if total > ahead:
            progress.add(episodes=total - ahead, earlier=True)

        def began(batch: Batch) -> None:
            running.append(batch)
            progress.show(_description(running, names))

        in_a_row = 0
        for batch, result in play(missing, began):
            running.remove(batch)
            in_a_row = in_a_row + 1 if isinstance(result, EnvFailure) else 0
            episodes = len(batch.cell.batches[batch.number])
            if isinstance(result, BudgetSpent):
                outcome.budget_spent = str(result)
                break
            if isinstance(result, Exception):
                progress.add(episodes=episodes)
                outcome.broken.append(f"{batch.cell.name}, batch {batch.number}: {result}")
                _LOG.warning("given up: %s", outcome.broken[-1])
            else:
                outcome.num_played += episodes
                outcome.failed += result.failed
                # The success of several policies together is nobody's.
                known = result._asdict() if len(names) == 1 else {"failed": result.failed}
                progress.add(episodes=episodes, env_id=batch.cell.scenario, **known)
            progress.show(_description(running, names))
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
