"""Who decides whether two answers mean the same, where no rule can."""

from __future__ import annotations

from typing import Protocol


class Judge(Protocol):
    """A language model or a person. One that cannot be reached raises `EnvFailure`."""

    def is_equivalent(self, *, question: str, reference: str, answer: str) -> bool:
        """Tell whether an answer means the same as the reference."""

    def is_same_reason(self, *, task: str, reason: str, report: str) -> bool:
        """Tell whether a report gives this reason why the task cannot be done, even implicitly."""
