"""Finds an episode's changes to a site's database, row by row.

The untouched content is attached to the episode's connection, and SQLite compares the tables: some
ten milliseconds for a whole site, so a caller leaves out tables to which nothing was written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agentgym_envs.webarena.evaluators.database_tables import Table

Key = tuple[Any, ...]
Row = dict[str, Any]


@dataclass(frozen=True)
class TableChanges:
    """The changed rows of one table.

    Attributes:
        before: rows that were there and are so no longer, by key.
        after: rows that are there and were not so, by key. A row that is in both has changed.
    """

    before: dict[Key, Row]
    after: dict[Key, Row]


def database_changes(
    connection: sqlite3.Connection, untouched: bytes, tables: Collection[Table]
) -> dict[str, TableChanges]:
    """Return the changed rows of each table that has any.

    Args:
        connection: to the database as an episode left it.
        untouched: the database as the episode began.
        tables: what is compared.
    """
    if not tables:
        return {}
    with _attached(connection, untouched):
        changes = {table.name: _compare(connection, table) for table in tables}
    return {name: each for name, each in changes.items() if each.before or each.after}


def untouched_rows(untouched: bytes, table: Table, keys: Collection[Key]) -> dict[Key, Row]:
    """Return a database's initial rows by key, without those that do not exist."""
    if not keys:
        return {}
    connection = sqlite3.connect(":memory:")
    connection.deserialize(untouched)
    condition = " AND ".join(f'"{column}" = ?' for column in table.key)
    sql = f'SELECT {_listed(table, "")} FROM "{table.name}" WHERE {condition}'
    rows = {key: connection.execute(sql, key).fetchone() for key in keys}
    connection.close()
    return {key: _row(table, row)[1] for key, row in rows.items() if row is not None}


@contextmanager
def _attached(connection: sqlite3.Connection, untouched: bytes) -> Iterator[None]:
    connection.commit()
    connection.execute("ATTACH ':memory:' AS untouched")
    try:
        connection.deserialize(untouched, name="untouched")
        yield
    finally:
        connection.execute("DETACH untouched")


def _compare(connection: sqlite3.Connection, table: Table) -> TableChanges:
    now, then = _source(table, "main"), _source(table, "untouched")
    same_key = " AND ".join(f'a."{column}" = b."{column}"' for column in table.key)
    # BINARY: a column's own collation may leave out what a task is about, such as letters' case.
    differs = [f'a."{column}" IS NOT b."{column}" COLLATE BINARY' for column in table.columns]
    is_new = f'b."{table.key[0]}" IS NULL'
    rows = connection.execute(
        f"SELECT {_listed(table, 'a.')}, {_listed(table, 'b.')} FROM {now} a LEFT JOIN {then} b "
        f"ON {same_key} WHERE {' OR '.join([is_new, *differs])}"
    ).fetchall()
    width = len(table.key) + len(table.columns)
    after = dict(sorted((_row(table, row[:width]) for row in map(tuple, rows)), key=_by_key))
    before = dict(_row(table, row[width:]) for row in map(tuple, rows) if row[width] is not None)
    num_new = len(after) - len(before)
    sizes = connection.execute(
        f"SELECT (SELECT count(*) FROM {now}), (SELECT count(*) FROM {then})"
    )
    size_now, size_then = sizes.fetchone()
    if size_now - num_new < size_then:
        before |= _gone(connection, table, now, then)
    return TableChanges(dict(sorted(before.items(), key=_by_key)), after)


def _gone(connection: sqlite3.Connection, table: Table, now: str, then: str) -> dict[Key, Row]:
    same_key = " AND ".join(f'a."{column}" = b."{column}"' for column in table.key)
    rows = connection.execute(
        f"SELECT {_listed(table, 'b.')} FROM {then} b "
        f"WHERE NOT EXISTS (SELECT 1 FROM {now} a WHERE {same_key})"
    )
    return dict(_row(table, row) for row in rows)


def _source(table: Table, database: str) -> str:
    name = f'{database}."{table.name}"'
    return f"(SELECT * FROM {name} WHERE {table.only})" if table.only else name


def _listed(table: Table, prefix: str) -> str:
    return ", ".join(f'{prefix}"{column}"' for column in (*table.key, *table.columns))


def _row(table: Table, values: Iterable[Any]) -> tuple[Key, Row]:
    values, width = tuple(values), len(table.key)
    return values[:width], dict(zip(table.columns, values[width:], strict=True))


def _by_key(item: tuple[Key, Row]) -> Key:
    return item[0]
