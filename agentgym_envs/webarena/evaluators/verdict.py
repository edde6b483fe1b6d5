"""Inputs and outputs of the evaluators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentgym_envs.browsing import Browser
from agentgym_envs.sites.state import SiteState


class SiteFunctions(Protocol):
    """The helper functions that task files may call and that need a site behind them."""

    def latest_order_url(self) -> str:
        """Return the address of the shop's newest order, or ""."""

    def latest_review(self, sku: str) -> tuple[str, str]:
        """Return (author, rating in percent) of a product's newest review, or ""."""

    def member_role(self, browser: Browser, url: str, username: str) -> str:
        """Return a person's role on the members page of a project, or ""."""


@dataclass(frozen=True)
class Ruling:
    """A judge's ruling with its reason. Its truth value is `is_right`.

    Attributes:
        is_right: whether the answer is.
        text: the judge's words.
        judge: who it is, such as a model's name.
    """

    is_right: bool
    text: str = ""
    judge: str = ""

    def __bool__(self) -> bool:
        return self.is_right


class Judge(Protocol):
    """Decides whether two answers mean the same: a language model or a person.

    One that cannot be reached raises `EnvFailure`. What it returns counts as a bool; a `Ruling`
    holds its words too, which the record of the episode then keeps.
    """

    def is_equivalent(self, *, question: str, reference: str, answer: str) -> bool | Ruling:
        """Return whether an answer means the same as the reference."""

    def is_same_reason(self, *, task: str, reason: str, report: str) -> bool | Ruling:
        """Return whether a report gives this reason why the task is impossible, even implicitly."""


@dataclass(frozen=True)
class Ending:
    """The end of an episode, for an evaluator.

    Attributes:
        intent: the task.
        answer: what `stop` said.
        browser: as the agent left it.
        functions: the sites' part of the helper functions.
        state: the embedded sites' databases; None on sites of somebody else's.
        judge: compares meanings; None leaves tasks that need it unscored.
        visited: the addresses of the pages that were shown, in order.
    """

    intent: str
    answer: str
    browser: Browser
    functions: SiteFunctions
    state: SiteState | None = None
    judge: Judge | None = None
    visited: Sequence[str] = ()

    @property
    def url(self) -> str:
        """The last page's address."""
        return self.browser.page().url


@dataclass(frozen=True)
class Verdict:
    """An evaluator's verdict.

    Attributes:
        score: 1.0 or 0.0; None where it cannot tell, as without a judge.
        reasons: what was missing, for people; never shown to a policy.
    """

    score: float | None
    reasons: tuple[str, ...] = ()


class Evaluator(Protocol):
    """One condition of a task."""

    def __call__(self, ending: Ending) -> Verdict:
        """Judge how the episode ended."""


def judged(failings: Iterable[str]) -> Verdict:
    """Return 1.0 without failings and 0.0 with them."""
    reasons = tuple(failings)
    return Verdict(0.0 if reasons else 1.0, reasons)


def multiply(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine verdicts: 0 if any is 0, else None if any is None, else 1."""
    verdicts = tuple(verdicts)
    reasons = tuple(reason for verdict in verdicts for reason in verdict.reasons)
    scores = [verdict.score for verdict in verdicts]
    if 0.0 in scores:
        return Verdict(0.0, reasons)
    return Verdict(None if None in scores else 1.0, reasons)
