"""Compares a table's changed rows with the expected ones and lists the differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.webarena.evaluators.database_changes import Key, Row, TableChanges
from agentgym_envs.webarena.evaluators.database_tables import Table
from agentgym_envs.webarena.evaluators.typed_answer import is_answer

_TYPOGRAPHY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"})
_LONGEST = 60

Same = dict[tuple[str, Any], Any]
"""(table, key before or place among the added rows) -> the key that the row has got."""


@dataclass
class Expected:
    """The rows of a table that a task expects.

    Attributes:
        before: rows that must change or vanish, by key.
        after: rows that must be there afterwards: the place among the added rows, or the key of the
            row that changes, and what it must hold.
    """

    before: dict[Key, Row]
    after: list[tuple[int | None, Key | None, Row]] = field(default_factory=list)


def compare_table(table: Table, expected: Expected, actual: TableChanges, same: Same) -> list[str]:
    """Describe missing and unexpected changes, empty if all match.

    Args:
        table: whose rows these are.
        expected: by the task.
        actual: what was found.
        same: the expected new rows that were found in other tables; those of this one are added.
    """
    left = dict(actual.after)
    missing: list[tuple[Key | None, Row]] = []
    for place, key, row in expected.after:
        match = next(
            (k for k in _nearest_first(left, key) if _fits(table, row, left[k], same)), None
        )
        if match is None:
            missing.append((key, row))
            continue
        del left[match]
        if len(match) == 1:
            same[table.name, _new(place) if key is None else key[0]] = match[0]
    words = _Words(table, expected.before | actual.before)
    stayed = [key for key in expected.before if key not in actual.before]
    touched = [key for key in actual.before if key not in expected.before]
    return [
        *(words.missing(key, row) for key, row in missing),
        *(words.not_removed(key) for key in stayed if all(key != k for k, _ in missing)),
        *(words.too_much(key, row) for key, row in left.items()),
        *(words.removed(key) for key in touched if key not in actual.after),
        # Rare: a row has taken the expected place of another one and is itself gone.
        *(words.removed(key) for key in touched if key in actual.after and key not in left),
    ]


def _new(place: int | None) -> tuple[str, int | None]:
    return "new", place


def _nearest_first(rows: Mapping[Key, Row], key: Key | None) -> Iterator[Key]:
    if key is not None and key in rows:
        yield key
    yield from (other for other in rows if other != key)


def _fits(table: Table, expected: Row, actual: Row, same: Same) -> bool:
    return all(
        column in actual and _equal(table, column, value, actual[column], same)
        for column, value in expected.items()
    )


def _equal(table: Table, column: str, expected: Any, actual: Any, same: Same) -> bool:
    if isinstance(expected, Mapping):
        if "includes" in expected:
            text = _plain(str(actual or "")).casefold()
            return all(_plain(phrase).casefold() in text for phrase in expected["includes"])
        if "type" in expected:
            return _is_value(expected, str(actual or ""))
        return bool(same.get((table.references.get(column, ""), _new(expected["row"]))) == actual)
    if column in table.references and expected is not None:
        return bool(same.get((table.references[column], expected), expected) == actual)
    if column in table.codes:
        return _signs(expected) == _signs(actual)
    if column in table.texts or column in table.caseless:
        texts = _plain(str(expected or "")), _plain(str(actual or ""))
        if column in table.caseless:
            return texts[0].casefold() == texts[1].casefold()
        return texts[0] == texts[1]
    return bool(expected == actual)


def _is_value(expected: Mapping[str, Any], text: str) -> bool:
    """Return whether a text is a typed answer alone, its parts with or without units."""
    num_words = len(re.findall(r"[^\W\d_]+", text))
    return num_words <= len(expected.get("of", [expected])) and is_answer(expected, text)


def _signs(code: Any) -> str:
    return re.sub(r"\W", "", str(code or "")).casefold()


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.translate(_TYPOGRAPHY)).strip()


class _Words:
    """Puts differences into words.

    Args:
        table: of the rows.
        before: what rows held before, by key.
    """

    def __init__(self, table: Table, before: Mapping[Key, Row]) -> None:
        self._table = table
        self._before = before

    def missing(self, key: Key | None, row: Row) -> str:
        """Say that an expected row is not there."""
        if key is None:
            return f"missing: a new row in {self._table.name} with {self._held(row)}"
        return f"missing: {self._name(key)} changed to {self._held(self._news(key, row))}"

    def not_removed(self, key: Key) -> str:
        """Say that a row that should be gone is still there, or changed the wrong way."""
        return f"missing: {self._name(key)} ({self._held(self._before[key])}) removed or changed"

    def too_much(self, key: Key, row: Row) -> str:
        """Say that a row is there that should not be."""
        if key not in self._before:
            return f"too much: a new row in {self._table.name} with {self._held(row)}"
        return f"too much: {self._name(key)} changed to {self._held(self._news(key, row))}"

    def removed(self, key: Key) -> str:
        """Say that a row is gone that should be there."""
        return f"too much: {self._name(key)} ({self._held(self._before[key])}) removed"

    def _news(self, key: Key, row: Row) -> Row:
        old = self._before.get(key, {})
        return {c: value for c, value in row.items() if value != old.get(c)} or row

    def _name(self, key: Key) -> str:
        pairs = zip(self._table.key, key, strict=True)
        return f"{self._table.name} " + ", ".join(f"{name} {value}" for name, value in pairs)

    def _held(self, row: Row) -> str:
        return ", ".join(f"{name} {value!r:.{_LONGEST}}" for name, value in row.items())
