"""Defines task templates: an intent with slots, and how it is drawn, judged and solved.

Answers are computed from the sites' content when an instance is drawn; changes are recorded from
what the solution does.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.content import SiteContent
from agentgym_envs.sites.people import Person
from agentgym_envs.sites.state import SiteState
from worlds.dice import Dice
from worlds.tasks.goals import Goal, Way
from worlds.tasks.screen import Screen

INSTANCES = 50
"""Instances of a template that can be done."""

FEW = {"train": 15, "validation": 6, "test": 12}
"""Instances of one that cannot be done, by split: N/A everywhere earns at most 5%."""


class World:
    """The sites' untouched databases, for drawing instances. Read them, never write them.

    Args:
        content: holds the databases.
        people: who lives in the world.
    """

    def __init__(self, content: SiteContent, people: Sequence[Person]) -> None:
        self.people = people
        self.content = content
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
        values: what fills the slots of the intents, and nothing else.
        goal: what decides whether it is done; no solution reads it.
        notes: what the solution knows beside the intent; never shown to a policy.
        start: where it begins, with WebArena's placeholders; None is where its template does.
    """

    values: Mapping[str, str]
    goal: Goal = Goal()
    notes: Mapping[str, Any] = field(default_factory=dict)
    start: str | None = None


Solution = Callable[[Case, Screen], Iterator[ExpertMove]]
"""Yields moves that do the task, reading the screen before each, by role and name."""


class Template(ABC):
    """A family of tasks.

    Attributes:
        number: of the template, unique and for ever: it is in the task ids.
        sites: WebArena's names of the sites that it plays on; the first one names the subtask.
        intents: wordings with slots, `"How many reviews has {product}?"`: a short one and a longer
            one at least, each of which says all that is needed. Instances take them in turns.
        split: `"train"`, `"validation"` or `"test"`.
        start: where it begins, with WebArena's placeholders; None is the first site's home page, or
            of some tasks a page deep inside it (see `starts`).
        signed_in: whether the agent's user is signed in at the start.
        is_impossible: the task cannot be done, and the right answer is N/A and the reason.
    """

    number: ClassVar[int]
    sites: ClassVar[tuple[str, ...]]
    intents: ClassVar[tuple[str, ...]]
    split: ClassVar[str]
    start: ClassVar[str | None] = None
    signed_in: ClassVar[bool] = True
    is_impossible: ClassVar[bool] = False

    @property
    def instances(self) -> int:
        """Number of tasks that are drawn."""
        return FEW[self.split] if self.is_impossible else INSTANCES

    @abstractmethod
    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw one instance, or return None if the draw fails and must be repeated."""

    @abstractmethod
    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Yield moves that do the task.

        A solution that ends without `stop` has failed.
        """

    def other_ways(self, case: Case, way: Way) -> Sequence[Way]:
        """Return other changes that do the task as well. By default there are none.

        Args:
            case: the instance.
            way: what the solution has changed.
        """
        del case, way
        return ()
