"""Goals of tasks: a typed answer, the page shown, and changes of the databases.

Everything that a goal does not ask to change must be as it was. A change is not written down here:
the solution makes it when the world is made, and all that it changed is recorded (`drawing`). What
the draw knows of it, from its own queries, is stated beside it and compared with the recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from agentgym_envs.sites.filters import money

Answer = Mapping[str, Any]
"""A typed answer, in the form of `evaluators.typed_answer`."""

Way = Mapping[str, Mapping[str, Mapping[str, list[dict[str, Any]]]]]
"""One alternative of a change, in the form of `evaluators.state_change`."""


@dataclass(frozen=True)
class Row:
    """A row that a change writes or removes.

    Attributes:
        table: its table.
        values: what it must hold, as far as the draw knows; of a changed row its key and what is
            new.
        is_removed: it must be gone.
    """

    table: str
    values: Mapping[str, Any]
    is_removed: bool = False


@dataclass(frozen=True)
class Goal:
    """The conditions under which a task is done.

    Attributes:
        answer: the answer that is wanted; None where none is.
        pages: addresses with WebArena's placeholders, at one of which it must end; none for any.
        changes: whether the databases must change.
        rows: what the draw knows of the change. A table that is named must change in these rows
            alone.
        loosely: `{"table.column": condition}`, how new values are compared if not for equality; as
            in `record_change`.
    """

    answer: Answer | None = None
    pages: tuple[str, ...] = ()
    changes: bool = False
    rows: tuple[Row, ...] = ()
    loosely: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)

    @property
    def is_impossible(self) -> bool:
        """Whether the task is impossible."""
        return self.answer is not None and self.answer["type"] == "impossible"

    def evaluation(self, ways: Sequence[Way]) -> dict[str, Any]:
        """Write WebArena's `eval` object.

        Args:
            ways: what may change; `[{}]` where nothing may.
        """
        evaluation: dict[str, Any] = {"state_change": list(ways)}
        if self.answer is not None:
            evaluation["typed_answer"] = self.answer
        if self.pages:
            evaluation["page_shown"] = list(self.pages)
        kinds = [kind for kind in _KINDS if kind in evaluation]
        return {"eval_types": kinds, **{kind: evaluation[kind] for kind in kinds}}

    def contradictions(self, way: Way) -> list[str]:
        """List the differences between a recorded change and the rows that the draw knows."""
        recorded: dict[str, list[tuple[bool, Mapping[str, Any]]]] = {}
        for tables in way.values():
            for table, kinds in tables.items():
                for kind, rows in kinds.items():
                    recorded.setdefault(table, []).extend((kind == "removed", row) for row in rows)
        wrong = []
        for row in self.rows:
            left = recorded.get(row.table, [])
            match = next((each for each in left if _fits(row, *each)), None)
            if match is None:
                wrong.append(f"not recorded: {row}")
            else:
                left.remove(match)
        named = {row.table for row in self.rows}
        return wrong + [
            f"recorded besides: {table} {row}"
            for table in named
            for _, row in recorded.get(table, ())
        ]


_KINDS = ("typed_answer", "state_change", "page_shown")


def _fits(row: Row, is_removed: bool, recorded: Mapping[str, Any]) -> bool:
    return is_removed == row.is_removed and all(
        column in recorded and recorded[column] == value for column, value in row.values.items()
    )


# Goals ----------------------------------------------------------------------------------------


def answers(answer: Answer) -> Goal:
    """Ask for an answer."""
    return Goal(answer)


def shows(*urls: str) -> Goal:
    """Ask to end where one of these pages is shown."""
    return Goal(pages=urls)


def changes(
    *rows: Row,
    answer: Answer | None = None,
    loosely: Mapping[str, Mapping[str, Any] | None] | None = None,
) -> Goal:
    """Require the solution's changes.

    Args:
        rows: what the draw knows of it.
        answer: one that is asked for besides.
        loosely: how new values are compared if not for equality.
    """
    return Goal(answer, changes=True, rows=rows, loosely=loosely or {})


def impossible(
    *reason: Iterable[str],
    about: Iterable[str],
    pages: Iterable[str],
    lists: Iterable[str] = (),
    also: Iterable[str] = (),
) -> Goal:
    """Ask for the answer that it cannot be done, and why.

    Args:
        reason: groups of phrases; the answer must hold one of each group.
        about: the names by which the task gives what it asks for.
        pages: addresses of `page`, one of which must have been seen. Each shows this task's reason.
        lists: pages that show the reasons of many tasks, for an answer that gives such a name.
        also: other tasks' causes that may stand in this reason too.
    """
    answer = {"type": "impossible", "reason": [list(phrases) for phrases in reason]}
    named = {"about": about, "pages": pages, "lists": lists, "also": also}
    return Goal(answer | {key: list(values) for key, values in named.items()})


def page(site: str, path: str, **query: str) -> str:
    """Write an address behind a reason, in the form of `evaluators.impossible`."""
    return f"__{site.upper()}__{path}" + (f"?{urlencode(query)}" if query else "")


NONE = ("no ", "not ", "n't", "none", "nobody", "nothing", "without", "never", " lack", "missing",
        "neither")  # fmt: skip
"""Words of reasons that something is not there."""


def row(table: str, **values: Any) -> Row:
    """Name a row that is new or changed."""
    return Row(table, values)


def gone(table: str, **values: Any) -> Row:
    """Name a row that is removed, by its key."""
    return Row(table, values, is_removed=True)


# Answers --------------------------------------------------------------------------------------


def number(value: float, unit: str = "") -> Answer:
    """Expect a number, and if it has a unit (in the singular) no other one."""
    return {"type": "number", "value": value} | ({"unit": unit} if unit else {})


def amount(cents: int) -> Answer:
    """Expect an amount of money."""
    return {"type": "currency", "value": money(cents)}


def name(value: str) -> Answer:
    """Expect a name or another text."""
    return {"type": "name", "value": value}


def identifier(value: str) -> Answer:
    """Expect a code such as an order's or a phone's number."""
    return {"type": "identifier", "value": value}


def measure(kind: str, value: str, unit: str = "") -> Answer:
    """Expect a `duration`, `distance`, `date` or `time`, which may leave out the unit given."""
    return {"type": kind, "value": value} | ({"unit": unit} if unit else {})


def hours_of(text: str) -> Answer | str:
    """Require times of opening hours such as `09:30-18:00`, or a text without times."""
    times = text.split("-")
    return list_of(*(measure("time", time) for time in times)) if len(times) == 2 else text


def all_of(*parts: Answer) -> Answer:
    """Require several answers of different kinds, those of one kind in this order."""
    return {"type": "all", "of": list(parts)}


def list_of(*parts: Answer) -> Answer:
    """Expect these in this order."""
    return {"type": "list", "of": list(parts)}


def set_of(*parts: Answer) -> Answer:
    """Expect these in any order."""
    return {"type": "set", "of": list(parts)}
