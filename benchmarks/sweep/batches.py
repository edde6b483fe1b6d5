"""Batches of a sweep and the reports of its workers."""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentgym_envs.machinery.secrets import hidden
from benchmarks.sweep.plan import Cell

MOST_BATCHES = 64
"""Batches that a worker plays at once, at most."""


class BatchKey(NamedTuple):
    """A batch's key in a sweep: the cell's name and the number there."""

    cell: str
    number: int


@dataclass(frozen=True)
class Batch:
    """One piece of work: a cell's batch, its worker's seat for it, and the cell's secrets."""

    folder: str
    cell: Cell
    number: int
    seat: int = field(default=0, compare=False)
    secrets: Mapping[str, str] = field(default_factory=hidden, repr=False, compare=False)

    @property
    def key(self) -> BatchKey:
        """The batch's key."""
        return BatchKey(self.cell.name, self.number)


class BatchOutcome(NamedTuple):
    """Counts of a batch's ended episodes: failed ones, the others, and their successes."""

    failed: int = 0
    scored: int = 0
    successes: int = 0

    @classmethod
    def from_counts(cls, counts: MutableSequence[int], seat: int) -> BatchOutcome:
        """Return the outcome of the batch in a seat, from a worker's counts."""
        first = seat * len(cls._fields)
        return cls(*counts[first : first + len(cls._fields)])

    def put(self, counts: MutableSequence[int], seat: int) -> None:
        """Write the outcome to its seat."""
        first = seat * len(self)
        counts[first : first + len(self)] = self


def no_counts() -> list[int]:
    """Return a worker's counts before it plays: a zero `BatchOutcome` for each seat."""
    return list(BatchOutcome() * MOST_BATCHES)


class Report(NamedTuple):
    """A worker's report: the ended batches with outcome or error, and whether it has room."""

    ended: dict[BatchKey, BatchOutcome | Exception]
    has_room: bool
