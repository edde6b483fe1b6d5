"""When an environment breaks: play the task again, give the episode up, or stop the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from agentgym_envs.errors import EnvFailure

_SHOWN_CAUSES = 3


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
    """

    retries: int = 2
    max_failed_share: float = 0.2
    min_failed: int = 3

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise ValueError(f"retries must be >= 0, got {self.retries}")
        if not 0.0 <= self.max_failed_share <= 1.0:
            raise ValueError(f"max_failed_share must be in 0..1, got {self.max_failed_share}")
        if self.min_failed < 1:
            raise ValueError(f"min_failed must be >= 1, got {self.min_failed}")

    def check(self, failed: int, total: int, causes: Iterable[str] = ()) -> None:
        """Stop the run when too many episodes failed.

        Args:
            failed: episodes given up.
            total: episodes played, the failed ones included.
            causes: what broke, one entry per failure.

        Raises:
            EnvFailure: the share is exceeded; the message names the commonest causes.
        """
        if failed == 0:
            return
        everything = failed >= total
        if not everything and (failed < self.min_failed or failed <= self.max_failed_share * total):
            return
        common = Counter(causes).most_common(_SHOWN_CAUSES)
        causes_text = "; ".join(f"{count} x {cause}" for cause, count in common) or "unknown"
        raise EnvFailure(
            f"{failed} of {total} episodes failed after {self.retries} retries each, more than the "
            f"allowed share of {self.max_failed_share:g}; causes: {causes_text}"
        )


class Attempts:
    """The failures of one batch of episodes.

    Args:
        rules: how often to play again, and how many failures are too many.

    Attributes:
        failed: keys of the episodes given up, with the cause of their last failure.
        causes: what broke, one entry per failure, retried ones included.
    """

    def __init__(self, rules: FailureRules) -> None:
        self.rules = rules
        self.failed: dict[Hashable, str] = {}
        self.causes: list[str] = []
        self._counts: Counter[Hashable] = Counter()

    def record_failure(self, key: Hashable, cause: str) -> bool:
        """Note one failure of an episode.

        Args:
            key: names the episode; not the task id alone where a task is played several times.
            cause: what broke, for people.

        Returns:
            True where the task is to be played again, False where the episode is given up.
        """
        self.causes.append(cause)
        self._counts[key] += 1
        if self._counts[key] <= self.rules.retries:
            return True
        self.failed[key] = cause
        return False

    def check(self, total: int) -> None:
        """Stop the run when too many of `total` episodes were given up (`FailureRules.check`)."""
        self.rules.check(len(self.failed), total, self.causes)
