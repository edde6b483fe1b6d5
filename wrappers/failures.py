"""When machinery breaks: play the task again, wait, give the episode up, or stop the run.

A failure that no other episode shares is charged to its episode: after `1 + retries` of them it is
given up. So is an error of the environment's code, which waiting does not mend, however many share
it. Other failures of one cause that several episodes share are an outage: nobody is charged, and
all of them are played again after pauses that double, for as long as the rules allow. So it is with
one that fails again before any other has ended, and with all that was given up, where the run would
stop for it.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from agentgym_envs.errors import AccessDenied, EnvFailure

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
UNPROVEN = 60.0
"""The most seconds that machinery is waited for under which no episode has ended yet."""
TOLERABLE = 30.0
"""The most seconds that a batch waits for episodes without which the run would go on."""

_SHOWN_CAUSES = 3
_OF_ONE_EPISODE = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
"""What may differ between messages of one cause."""

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


@dataclass(frozen=True)
class FailureRules:
    """When to play a task again and when to stop.

    A failed episode is one whose task failed `1 + retries` times. It enters no loss, no baseline
    and no success rate; `check` stops the run when such episodes are more than noise.

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
        """Return whether the run goes on after so many failed episodes."""
        everything = 0 < failed >= total
        few = failed < self.min_failed or failed <= self.max_failed_share * total
        return few and not everything

    def check(self, failed: int, total: int, causes: Iterable[str] = ()) -> None:
        """Stop the run when too many episodes failed.

        Args:
            failed: episodes given up.
            total: episodes played, the failed ones included.
            causes: what broke, one entry per failure.

        Raises:
            EnvFailure: the share is exceeded; the message names the commonest causes.
        """
        if self.tolerate(failed, total):
            return
        common = Counter(causes).most_common(_SHOWN_CAUSES)
        causes_text = "; ".join(f"{count} x {cause}" for cause, count in common) or "unknown"
        raise EnvFailure(
            f"{failed} of {total} episodes failed after {self.retries} retries each, more than the "
            f"allowed share of {self.max_failed_share:g}; causes: {causes_text}"
        )


@dataclass
class Outage:
    """Failures of one cause.

    Attributes:
        cause: what broke, in the words of the first.
        met: the episodes that have met it.
        waiting: those of them that are to be played again when the pause is over.
        began: when it was found to be shared; None before.
        pause: seconds that the next pause takes.
        resume_at: the end of the present pause; None where nobody waits.
    """

    cause: str
    met: set[int] = field(default_factory=set)
    waiting: list[int] = field(default_factory=list)
    began: float | None = None
    pause: float = FIRST_PAUSE
    resume_at: float | None = None


class Attempts:
    """The failures of one batch of episodes.

    Args:
        rules: how often to play again, how long to wait, and how many failures are too many.
        total: the batch's episodes.
        is_proven: an episode has ended on this machinery before.
        on_outage: called at the second pause of each outage, the first after which it lasts.
        clock: the time in seconds.

    Attributes:
        failed: keys of the episodes given up, with the cause of their last failure.
        causes: what broke, one entry per failure, retried ones included.
        charges: the failures that each episode is charged with.
        is_proven: an episode has ended.
    """

    def __init__(
        self,
        rules: FailureRules,
        total: int,
        *,
        is_proven: bool = True,
        on_outage: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rules = rules
        self.total = total
        self.is_proven = is_proven
        self.failed: dict[int, str] = {}
        self.causes: list[str] = []
        self.charges: Counter[int] = Counter()
        self._on_outage = on_outage
        self._clock = clock
        self._noted: dict[int, str] = {}
        self._errors: dict[int, str] = {}  # likewise, but waiting does not mend them
        self._waited_since: float | None = None  # for those given up
        self._ends = 0
        self._ends_at: dict[int, int] = {}  # by episode, when it failed last
        self._outages: dict[str, Outage] = {}
        self._kinds: dict[int, str] = {}  # of the episodes' last failures

    def persist(self, work: Callable[[], Result]) -> Result:
        """Do what belongs to no episode; see the function of that name."""
        limit = self.rules.max_outage
        limit = limit if self.is_proven else min(limit, UNPROVEN)
        return persist(work, limit=limit, on_outage=self._on_outage, clock=self._clock)

    def record_failure(self, key: int, cause: str, *, may_pass: bool = True) -> None:
        """Note one failure of an episode; `settle` decides what comes of it.

        Args:
            key: the episode's place in the batch.
            cause: what broke, for people.
            may_pass: it may be over after a while; an error of the environment's code is not.
        """
        self.causes.append(cause)
        (self._noted if may_pass else self._errors)[key] = cause

    def record_end(self, key: int) -> None:
        """Note that an episode has ended as it should: what it had met is over."""
        self.is_proven = True
        self._ends += 1
        outage = self._outages.pop(self._kinds.pop(key, ""), None)
        if outage is not None and outage.waiting:
            rest = Outage(outage.cause, waiting=outage.waiting, resume_at=self._clock())
            self._outages[_kind(outage.cause)] = rest

    def settle(self) -> list[int]:
        """Charge or excuse the failures noted since the last call, and begin pauses.

        Returns:
            The episodes that are to be played again now.
        """
        now = self._clock()
        for key, cause in self._noted.items():
            kind = self._kinds[key] = _kind(cause)
            outage = self._outages.setdefault(kind, Outage(cause))
            outage.met.add(key)
            is_shared = len(outage.met) > 1
            # Where nothing has gone well since it failed last, nobody knows whose fault it is.
            is_open = self._ends_at.get(key) == self._ends
            self._ends_at[key] = self._ends
            if (is_shared or is_open) and outage.began is None:
                outage.began = now
        # One fault has several faces: who fails alone while an outage lasts is not charged either.
        began = min((o.began for o in self._outages.values() if o.began is not None), default=None)
        limit = self._limit()
        again = [key for key, cause in self._errors.items() if self._charge(key, cause)]
        for key in self._errors:
            self._kinds.pop(key, None)
        self._errors.clear()
        for key, cause in self._noted.items():
            outage = self._outages[self._kinds[key]]
            if began is not None and now < began + limit:
                outage.began = now if outage.began is None else outage.began
                outage.waiting.append(key)
                continue
            if self._charge(key, cause):
                again.append(key)
                continue
            if outage.began is not None and self._waited_since is None:
                self._waited_since = outage.began
            outage.met.discard(key)
            if not outage.met:
                del self._outages[self._kinds[key]]
        self._noted.clear()
        for outage in self._outages.values():
            self._begin_pause(outage, now)
            if outage.resume_at is not None and now >= outage.resume_at:
                again += outage.waiting
                outage.waiting, outage.resume_at = [], None
        return again

    def _charge(self, key: int, cause: str) -> bool:
        """Charge an episode with a failure, and return whether it is played again."""
        self.charges[key] += 1
        if self.charges[key] <= self.rules.retries:
            return True
        self.failed[key] = cause
        return False

    def seconds_to_wait(self) -> float | None:
        """Return the seconds until `settle` lets episodes be played again; None if none wait."""
        ends = [o.resume_at for o in self._outages.values() if o.resume_at is not None]
        return max(0.0, min(ends) - self._clock()) if ends else None

    def excuse(self) -> list[int]:
        """Let the episodes given up wait, where the run would stop for them and there is time.

        Returns:
            These episodes.
        """
        excused = [key for key in self.failed if key in self._kinds]
        num_errors = len(self.failed) - len(excused)
        if self.is_tolerable or not self.rules.tolerate(num_errors, self.total):
            return []
        now = self._clock()
        began = self._waited_since = now if self._waited_since is None else self._waited_since
        if now >= began + self._limit():
            return []
        for key in excused:
            self.charges[key] = 0
            outage = self._outages.setdefault(self._kinds[key], Outage(self.failed.pop(key)))
            outage.began = began
            outage.met.add(key)
            outage.waiting.append(key)
        return excused

    @property
    def most_charges(self) -> int:
        """The failures that one episode is charged with, at most."""
        return max(self.charges.values(), default=0)

    def forget(self, key: int) -> None:
        """Let an episode's place in the batch be another one's."""
        for known in (self.failed, self.charges, self._kinds, self._ends_at):
            known.pop(key, None)

    @property
    def is_tolerable(self) -> bool:
        """No more episodes were given up than the rules allow."""
        return self.rules.tolerate(len(self.failed), self.total)

    def check(self) -> None:
        """Stop the run when too many episodes were given up (`FailureRules.check`)."""
        self.rules.check(len(self.failed), self.total, self.causes)

    def _limit(self) -> float:
        """Return how many seconds an outage may last."""
        if not self.is_proven:
            return min(self.rules.max_outage, UNPROVEN)
        waiting = sum(len(outage.waiting) for outage in self._outages.values())
        if self.rules.tolerate(len(self.failed) + len(self._noted) + waiting, self.total):
            return min(self.rules.max_outage, TOLERABLE)
        return self.rules.max_outage

    def _begin_pause(self, outage: Outage, now: float) -> None:
        if not outage.waiting or outage.resume_at is not None:
            return
        outage.resume_at = now + outage.pause
        logger.warning(
            "%d episodes wait %g s and are played again: %s",
            len(outage.waiting),
            outage.pause,
            outage.cause,
        )
        if outage.pause > FIRST_PAUSE and self._on_outage is not None:
            self._on_outage()
        outage.pause = min(2 * outage.pause, LONGEST_PAUSE)


def _kind(cause: str) -> str:
    return _OF_ONE_EPISODE.sub("#", cause)


def persist(
    work: Callable[[], Result],
    *,
    limit: float,
    failures: tuple[type[Exception], ...] = (EnvFailure,),
    on_outage: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Do something again and again while it fails and there is time, after pauses that double.

    Args:
        work: what is done.
        limit: seconds in all.
        failures: what is waited for.
        on_outage: called before the second pause.
        clock: the time in seconds.

    Raises:
        Exception: one of `failures`, from `work`, when the time is over, or at once where waiting
            does not help (`AccessDenied`).
    """
    began, pause = clock(), FIRST_PAUSE
    while True:
        try:
            return work()
        except failures as failure:
            if isinstance(failure, AccessDenied) or clock() + pause > began + limit:
                raise
            logger.warning("once more in %g s: %s", pause, failure)
            if pause > FIRST_PAUSE and on_outage is not None:
                on_outage()
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
