"""Defines task templates: an intent with slots, and how it is drawn and judged.

Its expert is among those of `agentgym_envs.webarena.tasks`, under the same number. Answers and goal
states are computed from the sites' content when an instance is drawn, never written by hand.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from agentgym_envs.webarena.sites.content import SiteContent
from agentgym_envs.webarena.sites.people import Person
from agentgym_envs.webarena.sites.state import SiteState
from agentgym_envs.webarena.tasks.solution import IMPOSSIBLE
from worlds.dice import Dice


class World:
    """The sites' untouched databases, for drawing instances. Read them, never write them.

    Args:
        content: holds the databases.
        people: who lives in the world.
    """

    def __init__(self, content: SiteContent, people: Sequence[Person]) -> None:
        self.people = people
        self._state = SiteState(content=content)
        # A draw asks again what the one before it asked, and the content never changes.
        self._cached_rows = lru_cache(maxsize=64)(self._fetch)

    def database(self, site: str) -> sqlite3.Connection:
        """Return a site's database, for rules that its pages compute with, such as routes."""
        return self._state.database(site)

    def rows(self, site: str, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Return all rows of a query on a site's database."""
        return list(self._cached_rows(site, sql, values))

    def value(self, site: str, sql: str, *values: Any) -> Any:
        """Return the first column of the first row, or None."""
        rows = self.rows(site, sql, *values)
        return rows[0][0] if rows else None

    def _fetch(self, site: str, sql: str, values: tuple[Any, ...]) -> list[sqlite3.Row]:
        return self._state.database(site).execute(sql, values).fetchall()


@dataclass(frozen=True)
class Case:
    """One instance of a template.

    Attributes:
        values: what fills the slots of the intent, and nothing else.
        evaluation: WebArena's `eval` object; the helpers below write it.
        notes: what the expert knows beside the intent; never shown to a policy.
    """

    values: Mapping[str, str]
    evaluation: Mapping[str, Any]
    notes: Mapping[str, Any] = field(default_factory=dict)


class Template(ABC):
    """A family of tasks.

    Attributes:
        number: of the template, unique and for ever: it is in the task ids.
        sites: WebArena's names of the sites that it plays on; the first one names the subtask.
        intent: with slots: `"How many reviews has {product}?"`.
        split: `"train"`, `"validation"` or `"test"`.
        start: where it begins, with WebArena's placeholders; None is the first site's home page.
        signed_in: whether the agent's user is signed in at the start.
        is_impossible: the task cannot be done, and the right answer is `stop [N/A]`.
    """

    number: ClassVar[int]
    sites: ClassVar[tuple[str, ...]]
    intent: ClassVar[str]
    split: ClassVar[str]
    start: ClassVar[str | None] = None
    signed_in: ClassVar[bool] = True
    is_impossible: ClassVar[bool] = False

    @abstractmethod
    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw one instance; None where the dice fell badly and must be thrown again."""


# Evaluations ----------------------------------------------------------------------------------


def exact_answer(answer: str) -> dict[str, Any]:
    """Expect this answer, case and surrounding space aside."""
    return _evaluation(["string_match"], reference_answers={"exact_match": answer})


def impossible() -> dict[str, Any]:
    """Expect the answer N/A."""
    return exact_answer(IMPOSSIBLE)


def at_url(url: str, *, exact: bool = False) -> dict[str, Any]:
    """Expect the last page to have this address, written with WebArena's placeholders.

    Args:
        url: the address; `" |OR| "` stands between several.
        exact: nothing may follow it; else a longer path and further parameters pass, too.
    """
    evaluation = _evaluation(["url_match"], reference_url=url)
    return {**evaluation, "url_note": "EXACT"} if exact else evaluation


def state_of(site: str, query: str, expected: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Describe one query whose rows must be as expected, for `changed`."""
    return {"site": site, "query": query, "expected": [list(row) for row in expected]}


def changed(*states: dict[str, Any], answer: str = "") -> dict[str, Any]:
    """Expect the databases to answer these queries so and, if one is given, this answer."""
    kinds = ["db_state", *(["string_match"] if answer else [])]
    references = {"exact_match": answer} if answer else None
    return _evaluation(kinds, reference_answers=references, db_state=list(states))


def _evaluation(
    kinds: list[str],
    *,
    reference_answers: Mapping[str, Any] | None = None,
    reference_url: str = "",
    db_state: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    evaluation: dict[str, Any] = {
        "eval_types": kinds,
        "reference_answers": reference_answers,
        "reference_url": reference_url,
        "program_html": [],
    }
    if db_state is not None:
        evaluation["db_state"] = db_state
    return evaluation
