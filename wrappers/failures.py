"""Failure rules: retries of episodes, waits for machinery, and the share that stops a run.

A failure that an episode has alone counts against it: the episode is played again, and given up
after `1 + retries` such failures. An error of the environment's code counts too, however many
episodes share it, for waiting does not mend it. Other failures are an outage where several episodes
share their cause, where an episode fails again before any other has ended, and where the run would
stop otherwise. No failure during an outage counts. Its episodes are played again after pauses that
double, for as long as the rules allow.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from agentgym_envs.errors import AccessDenied, EnvFailure

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
MAX_FIRST_OUTAGE = 60.0
"""The most seconds that machinery is waited for on which no episode has ended yet."""
MAX_TOLERABLE_OUTAGE = 30.0
"""The most seconds that a batch waits for episodes without which the run would go on."""

_SHOWN_CAUSES = 3
_VARIABLE_PARTS = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
"""Parts of a message in which two failures of one cause may differ."""

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


@dataclass(frozen=True)
class FailureRules:
    """Rules for playing a failed task again, and for stopping.

    A failed episode is one whose task failed `1 + retries` times. It enters no loss, no baseline
    and no success rate; the run stops when such episodes are more than noise.

    Attributes:
        retries: how often a task is played again after a failure.
        max_failed_share: the share of failed episodes, in 0..1, above which the run stops.
        min_failed: so many episodes must have failed before the share counts, so that one broken
            episode of two stops nothing. Where *every* episode failed, the run stops regardless.
        max_outage: seconds that broken machinery is waited for; 0 waits for nothing.
    """

    retries: int = 2
    max_failed_share: float = 0.2
    min_failed: int = 3
    max_outage: float = 0.0

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise ValueError(f"retries must be >= 0, got {self.retries}")
        if not 0.0 <= self.max_failed_share <= 1.0:
            raise ValueError(f"max_failed_share must be in 0..1, got {self.max_failed_share}")
        if self.min_failed < 1:
            raise ValueError(f"min_failed must be >= 1, got {self.min_failed}")
        if not self.max_outage >= 0:
            raise ValueError(f"max_outage must be >= 0 seconds, got {self.max_outage}")

    def tolerate(self, failed: int, total: int) -> bool:
        """Return whether the run goes on after this number of failed episodes."""
        everything = 0 < failed >= total
        few = failed < self.min_failed or failed <= self.max_failed_share * total
        return few and not everything


@dataclass
class Machinery:
    """The environments and servers that a run's episodes need.

    Attributes:
        rules: the failure rules.
        has_worked: an episode has ended on them.
        on_outage: called before each pause but an outage's first; a trainer saves a checkpoint.
    """

    rules: FailureRules = field(default_factory=FailureRules)
    has_worked: bool = False
    on_outage: Callable[[], None] | None = None

    @property
    def max_outage(self) -> float:
        """Seconds that they are waited for."""
        limit = self.rules.max_outage
        return limit if self.has_worked else min(limit, MAX_FIRST_OUTAGE)

    def retry(self, work: Callable[[], Result]) -> Result:
        """Call a function that belongs to no episode until it succeeds (`retry`)."""
        return retry(work, max_seconds=self.max_outage, on_outage=self.on_outage)


def retry(
    work: Callable[[], Result],
    *,
    max_seconds: float,
    failures: tuple[type[Exception], ...] = (EnvFailure,),
    on_outage: Callable[[], None] | None = None,
) -> Result:
    """Call a function until it succeeds, after pauses that double.

    Args:
        work: the function.
        max_seconds: how long.
        failures: the errors after which it is called again.
        on_outage: called before each pause but the first.

    Raises:
        Exception: one of `failures`, when the time is over, or at once where waiting does not help
            (`AccessDenied`).
    """
    deadline, pause = time.monotonic() + max_seconds, FIRST_PAUSE
    while True:
        try:
            return work()
        except failures as failure:
            if isinstance(failure, AccessDenied) or time.monotonic() + pause > deadline:
                raise
            logger.warning("once more in %g s: %s", pause, failure)
            if pause > FIRST_PAUSE and on_outage is not None:
                on_outage()
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


@dataclass
class _Outage:
    """Failures that count against none of their episodes, which are played again after pauses."""

    cause: str
    since: float
    episodes: set[int] = field(default_factory=set)
    waiting: list[int] = field(default_factory=list)
    pause: float = FIRST_PAUSE
    resume_at: float | None = None


class EpisodeRetries:
    """Decides which failed episodes of a batch are played again, and when.

    Attributes:
        failed: the abandoned episodes, with the cause of their last failure.
        causes: one per failure, retried ones included.
        counts: the failures that count, by episode.
    """

    def __init__(self, machinery: Machinery, total: int) -> None:
        self.machinery = machinery
        self.failed: dict[int, str] = {}
        self.causes: list[str] = []
        self.counts: Counter[int] = Counter()
        self._total = total
        self._num_ended = 0
        self._new: dict[int, str] = {}  # failures since the last `settle`
        self._failing: dict[int, tuple[str, int]] = {}  # cause, and `_num_ended` at that time
        self._outage: _Outage | None = None
        self._again: list[int] = []
        self._alone: set[int] = set()  # given up, and not waited for

    def record_failure(self, key: int, cause: str, *, may_pass: bool = True) -> None:
        """Record one failure of an episode, for `settle` to decide on.

        Args:
            key: the episode's place in the batch.
            cause: what broke, for people.
            may_pass: waiting may help; it does not mend an error of the environment's code.
        """
        self.causes.append(cause)
        if may_pass:
            self._new[key] = cause
        else:
            self._count(key, cause)

    def record_end(self, key: int) -> None:
        """Record that an episode has ended as it should, and with it the outage that it met."""
        self.machinery.has_worked = True
        self._num_ended += 1
        self._failing.pop(key, None)
        if self._outage is not None and key in self._outage.episodes:
            self._again += self._outage.waiting
            for other in self._outage.episodes:
                self._failing.pop(other, None)
            self._outage = None

    def settle(self) -> list[int]:
        """Count the failures since the last call, or let their episodes wait in an outage.

        Returns:
            The episodes that are to be played again now.
        """
        now = time.monotonic()
        if self._add_new() and self._outage is None:
            self._outage = _Outage(next(iter(self._new.values())), since=now)
            if not self._tolerates(len(self._new)):
                self._new |= {key: self.failed.pop(key) for key in self._alone}
                self._alone.clear()
        outage = self._outage
        if outage is not None:
            outage.episodes |= self._new.keys()
        if outage is not None and now < outage.since + self._max_outage(outage):
            outage.waiting += self._new
        else:
            for key, cause in self._new.items():
                self._count(key, cause)
                if outage is None and key in self.failed:
                    self._alone.add(key)
        self._new.clear()
        if outage is not None:
            self._pause(outage, now)
        again, self._again = self._again, []
        return again

    def seconds_to_wait(self) -> float | None:
        """Return the seconds until waiting episodes are retried, or None if none wait."""
        if self._outage is None or self._outage.resume_at is None:
            return None
        return max(0.0, self._outage.resume_at - time.monotonic())

    def forget(self, key: int) -> None:
        """Let an episode's place in the batch be another one's."""
        self.failed.pop(key, None)
        self.counts.pop(key, None)
        self._alone.discard(key)
        self._leave(key)

    @property
    def is_tolerable(self) -> bool:
        """No more episodes were given up than the rules allow."""
        return self._tolerates(0)

    def check(self) -> None:
        """Stop the run when more episodes were given up than the rules allow.

        Raises:
            EnvFailure: the message names the commonest causes.
        """
        if self.is_tolerable:
            return
        rules, common = self.machinery.rules, Counter(self.causes).most_common(_SHOWN_CAUSES)
        raise EnvFailure(
            f"{len(self.failed)} of {self._total} episodes failed after {rules.retries} retries "
            f"each, more than the allowed share of {rules.max_failed_share:g}; causes: "
            + "; ".join(f"{count} x {cause}" for cause, count in common)
        )

    def _tolerates(self, more: int) -> bool:
        return self.machinery.rules.tolerate(len(self.failed) + more, self._total)

    def _add_new(self) -> bool:
        """Add the new failures to those known, and return whether they are an outage."""
        before = [self._failing.get(key, ("", -1))[1] for key in self._new]
        self._failing |= {key: (_kind(c), self._num_ended) for key, c in self._new.items()}
        shared = Counter(cause for cause, _ in self._failing.values())
        spent = sum(self.counts[key] >= self.machinery.rules.retries for key in self._new)
        return (
            any(shared[_kind(cause)] > 1 for cause in self._new.values())
            # Where nothing has gone well since it failed last, nobody knows whose fault it is.
            or self._num_ended in before
            or (self.is_tolerable and not self._tolerates(spent))
        )

    def _max_outage(self, outage: _Outage) -> float:
        """Return how many seconds an outage may last."""
        limit = self.machinery.max_outage
        if self.machinery.has_worked and self._tolerates(len(outage.episodes)):
            return min(limit, MAX_TOLERABLE_OUTAGE)
        return limit

    def _count(self, key: int, cause: str) -> None:
        """Count a failure against its episode: it is played again, or given up."""
        self.counts[key] += 1
        if self.counts[key] <= self.machinery.rules.retries:
            self._again.append(key)
        else:
            self.failed[key] = cause
            self._leave(key)

    def _leave(self, key: int) -> None:
        self._failing.pop(key, None)
        if self._outage is not None:
            self._outage.episodes.discard(key)
            self._outage = self._outage if self._outage.episodes else None

    def _pause(self, outage: _Outage, now: float) -> None:
        """Begin a pause, or end it."""
        if outage.waiting and outage.resume_at is None:
            outage.resume_at = now + outage.pause
            logger.warning(
                "%d episodes wait %g s and are played again: %s",
                *(len(outage.waiting), outage.pause, outage.cause),
            )
            if outage.pause > FIRST_PAUSE and self.machinery.on_outage is not None:
                self.machinery.on_outage()
            outage.pause = min(2 * outage.pause, LONGEST_PAUSE)
        if outage.resume_at is not None and now >= outage.resume_at:
            self._again += outage.waiting
            outage.waiting, outage.resume_at = [], None


def _kind(cause: str) -> str:
    return _VARIABLE_PARTS.sub("#", cause)
