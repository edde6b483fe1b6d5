"""Judges an episode by everything that it changed: `state_change`, our own kind.

A task holds the rows that must appear, change and vanish; every other row of every site must be as
it was, less the noise that a site declares. The form is JSON, a list of alternatives:

    [{"shopping": {"orders": {"changed": [{"id": 7, "status": "cancelled"}]},
                   "order_comments": {"added": [{"order_id": 7, "text": "Too late"}]},
                   "wishlist_items": {"removed": [{"id": 24}]}}}]

A row that was there is named by its key, a new one by what it holds; `{"row": 0}` refers to the
first added row of the table that a column refers to. So neither the ids that a site gives nor the
order of writing matters. A column of a new row that is left out may hold anything; a text may be
`{"includes": ["these", "words"]}`, or a value of `typed_answer` that stands there alone, as
`{"type": "currency", "value": "$289.19"}`. `[{}]` expects nothing to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym_envs.sites.names import DATABASES
from agentgym_envs.sites.state import SiteState
from agentgym_envs.webarena.evaluators.change_matching import Expected, compare_table
from agentgym_envs.webarena.evaluators.database_changes import (
    TableChanges,
    database_changes,
    untouched_rows,
)
from agentgym_envs.webarena.evaluators.database_tables import Table, compared_tables
from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged

KINDS = ("added", "changed", "removed")
_SHOWN = 12

Way = Mapping[str, Mapping[str, Mapping[str, list[dict[str, Any]]]]]


class StateChangeEvaluator:
    """Compares an episode's changes with the task's.

    Args:
        evaluation: an `eval` object; its `state_change` lists the alternatives.

    Raises:
        ValueError: the list is empty or has another form.
    """

    def __init__(self, evaluation: Mapping[str, Any]) -> None:
        ways = evaluation.get("state_change")
        if not isinstance(ways, list) or not ways:
            raise ValueError(
                "state_change must be a list of alternatives, [{}] where nothing may change, "
                f"got {ways!r:.200}"
            )
        for way in ways:
            _check(way)
        self._ways: tuple[Way, ...] = tuple(ways)

    def __call__(self, ending: Ending) -> Verdict:
        """Compare, with the reasons of the nearest of several alternatives.

        Raises:
            ValueError: the task names what a site's tables lack, or the sites are not ours.
        """
        if ending.state is None:
            raise ValueError("state_change needs the embedded sites; these are not ours")
        changes = current_changes(ending.state)
        failings = min((_compare(way, changes, ending.state) for way in self._ways), key=len)
        more = len(failings) - _SHOWN
        return judged(failings[:_SHOWN] + ([f"and {more} rows more"] if more > 0 else []))


Changes = dict[str, dict[str, TableChanges]]


def current_changes(state: SiteState) -> Changes:
    """Return an episode's changes so far, by database and table."""
    changes: Changes = {}
    for name, connection in state.connections.items():
        written = connection.written_tables()
        if written is not None and not written:
            continue
        tables = [
            table
            for table in compared_tables(name, connection).values()
            if written is None or table.name in written
        ]
        if found := database_changes(connection, state.untouched(name), tables):
            changes[name] = found
    return changes


def record_change(
    state: SiteState, *, loosely: Mapping[str, Mapping[str, Any] | None] | None = None
) -> dict[str, Any]:
    """Write an episode's changes so far as one alternative of a task.

    Args:
        state: the episode's databases.
        loosely: `{"table.column": condition}`, how new values are compared if not for equality:
            `{"includes": [...]}`, a typed answer, or None for any value.
    """
    loosely = loosely or {}
    way: dict[str, Any] = {}
    for database, changes in sorted(current_changes(state).items()):
        tables = compared_tables(database, state.connections[database])
        added = {
            name: {
                key: place
                for place, key in enumerate(key for key in each.after if key not in each.before)
            }
            for name, each in changes.items()
        }
        rows = {
            name: _recorded(tables[name], each, added, loosely) for name, each in changes.items()
        }
        if rows:
            way[database] = rows
    return way


def _recorded(
    table: Table,
    changes: TableChanges,
    added: Mapping[str, Mapping[tuple[Any, ...], int]],
    loosely: Mapping[str, Mapping[str, Any] | None],
) -> dict[str, list[dict[str, Any]]]:
    def written(row: Mapping[str, Any], columns: list[str]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for column in columns:
            condition = loosely.get(f"{table.name}.{column}", False)
            place = added.get(table.references.get(column, ""), {}).get((row[column],))
            if condition is None:
                continue
            values[column] = condition or (row[column] if place is None else {"row": place})
        return values

    result: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for key, row in changes.after.items():
        old = changes.before.get(key)
        if old is None:
            columns = [column for column in table.columns if column not in table.numbered]
            result["added"].append(written(row, columns))
        else:
            columns = [column for column in table.columns if row[column] != old[column]]
            named = dict(zip(table.key, key, strict=True))
            result["changed"].append({**named, **written(row, columns)})
    gone = [key for key in changes.before if key not in changes.after]
    result["removed"] = [dict(zip(table.key, key, strict=True)) for key in gone]
    return {kind: rows for kind, rows in result.items() if rows}


def _compare(way: Way, changes: Changes, state: SiteState) -> list[str]:
    failings: list[str] = []
    for database in sorted({*way, *changes}):
        tables = compared_tables(database, state.database(_database_site(database)))
        wanted, found = way.get(database, {}), changes.get(database, {})
        if unknown := set(wanted) - set(tables):
            raise ValueError(f"state_change: {database} has no tables {sorted(unknown)}")
        same: dict[tuple[str, Any], Any] = {}
        for name, table in tables.items():
            if name in wanted or name in found:
                expected = _expected(table, wanted.get(name, {}), state.untouched(database))
                actual = found.get(name, TableChanges({}, {}))
                failings += compare_table(table, expected, actual, same)
    return failings


def _expected(table: Table, rows: Mapping[str, list[dict[str, Any]]], untouched: bytes) -> Expected:
    """Add the initial values to a task's expected rows."""
    keys = {
        kind: [_key(table, row) for row in rows.get(kind, ())] for kind in ("changed", "removed")
    }
    before = untouched_rows(untouched, table, (*keys["changed"], *keys["removed"]))
    missing = [key for key in (*keys["changed"], *keys["removed"]) if key not in before]
    if missing:
        raise ValueError(f"state_change: {table.name} has no row {missing[0]!r} to change")
    expected = Expected(before=before)
    for place, row in enumerate(rows.get("added", ())):
        expected.after.append((place, None, dict(row)))
    for key, row in zip(keys["changed"], rows.get("changed", ()), strict=True):
        kept = {c: value for c, value in before[key].items() if c not in table.numbered}
        values = {c: value for c, value in row.items() if c in table.columns}
        expected.after.append((None, key, kept | values))
    return expected


def _key(table: Table, row: Mapping[str, Any]) -> tuple[Any, ...]:
    if not set(table.key) <= set(row):
        raise ValueError(f"state_change: a row of {table.name} needs {table.key}, got {row!r:.200}")
    return tuple(row[column] for column in table.key)


def _database_site(database: str) -> str:
    return next(site for site, name in DATABASES.items() if name == database)


def _check(way: Any) -> None:
    form = "{database: {table: {added|changed|removed: [rows]}}}"
    if not isinstance(way, Mapping):
        raise ValueError(f"an alternative of state_change must be {form}, got {way!r:.200}")
    for database, tables in way.items():
        if database not in DATABASES.values():
            raise ValueError(
                f"state_change: unknown database {database!r}; allowed: "
                f"{', '.join(sorted(set(DATABASES.values())))}"
            )
        for rows in tables.values() if isinstance(tables, Mapping) else (None,):
            is_form = isinstance(rows, Mapping) and all(
                kind in KINDS and isinstance(each, list) and all(isinstance(r, dict) for r in each)
                for kind, each in rows.items()
            )
            if not is_form:
                raise ValueError(f"state_change must have the form {form}, got {rows!r:.200}")
