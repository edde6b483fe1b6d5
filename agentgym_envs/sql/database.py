"""Runs a policy's statements on a SQLite database: read-only, bounded, and the same every time.

An authorizer lets only reading through, a progress handler counts SQLite's own steps, and functions
that would answer differently tomorrow are fixed or refused.
"""

from __future__ import annotations

import re
import sqlite3
import time
from functools import cache
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from agentgym_envs.sql.clock import fix_the_clock
from agentgym_envs.sql.nesting import MAX_COPIES, num_copies
from agentgym_envs.sql.printf import bound_printf
from agentgym_envs.sql.values import Row
from agentgym_envs.webarena.sites.content import open_content

NAMES = ("shopping", "reddit", "gitlab", "map")
"""The databases that are shipped, those of WebArena's sites."""

MAX_STEPS = 2_000_000
"""Steps of SQLite's machine that a statement may take on a database that is shipped."""

MAX_FILE_STEPS = 2_000_000_000
"""The same on a database of the user's own, which may be a thousand times as large."""

MAX_VALUE = 10_000
"""Bytes of the longest text that a statement may build on a database that is shipped."""

MAX_SECONDS = 20.0
"""Of the processor that a statement may take: a single step may search long texts."""

MAX_FILE_SECONDS = 600.0
"""The same on a database of the user's own."""

MAX_PATTERN = 200
"""Bytes of the longest pattern of LIKE and GLOB on a database that is shipped."""

MAX_STATEMENT = 10_000
"""Characters of the longest statement."""

_TICK = 1_000
"""Steps between two counts."""

_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
_PRAGMAS = (
    "table_info",
    "table_xinfo",
    "table_list",
    "foreign_key_list",
    "index_list",
    "index_info",
)
_REFUSED = re.compile(
    r"load_extension|fts3_tokenizer|random|randomblob|changes|total_changes|last_insert_rowid"
    r"|sqlite_\w+|fts5_source_id",
    re.IGNORECASE,
)
"""Functions that reach out of the database, or whose values the database does not fix."""

_COMMENT = re.compile(r"[\s;\ufeff]+|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z)", re.DOTALL)
_EXPLAIN = re.compile(r"explain\b", re.IGNORECASE)
_ALLOWED = "only one statement that reads is allowed"
_ERRORS = (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError, ValueError)


class StatementError(ValueError):
    """A statement that cannot be run; the message says why, and what is allowed."""


class Result(NamedTuple):
    """What a statement gave.

    Attributes:
        columns: their names.
        rows: the first ones.
        has_more: there are rows besides.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    has_more: bool


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: of the column.
        kind: its declared type.
        key: its place in the primary key, from 1; 0 where it is no part of it.
        refers_to: the table and the column that it refers to, or None.
    """

    name: str
    kind: str
    key: int
    refers_to: tuple[str, str] | None


class Database:
    """A database that can only be read; one thread at a time runs a statement.

    Args:
        connection: to it; it belongs to this object from now on.
        max_steps: of SQLite's machine, of one statement.
        max_seconds: of the processor, of one statement.
        max_value: bytes of the longest text or row; None leaves SQLite's limit.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        max_steps: int,
        max_seconds: float,
        max_value: int | None,
    ) -> None:
        self._connection = connection
        self._running = Lock()
        self._max_steps = max_steps
        self._max_seconds = max_seconds
        self._max_value = max_value
        self._ticks = 0
        self._deadline = inf
        self._refused = ""
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        if max_value is not None:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max_value)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN)
        self.tables = tuple(self._names("SELECT name FROM sqlite_schema WHERE type = 'table'"))
        """The names of its tables, in alphabetical order."""
        self._columns = {table: self._read_columns(table) for table in self.tables}
        fix_the_clock(connection)
        bound_printf(connection, self._refuse)
        # A table that is a function is made when it is first read, which takes more than reading.
        for pragma in _PRAGMAS:
            connection.execute(f"SELECT 1 FROM pragma_{pragma}('')").close()
        for function in ("json_each", "json_tree"):
            connection.execute(f"SELECT 1 FROM {function}('[]')").close()
        connection.execute("PRAGMA query_only = ON")
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._tick, _TICK)

    def columns(self, table: str) -> tuple[Column, ...]:
        """Return the columns of one of `tables`."""
        return self._columns[table]

    def run(self, statement: str, *, limit: int) -> Result:
        """Run one statement.

        Args:
            statement: in SQLite's dialect.
            limit: rows to return at most.

        Raises:
            StatementError: it is none, does more than reading, is too much work, or is wrong.
        """
        _check_form(statement)
        with self._running:
            self._ticks, self._refused = 0, ""
            self._deadline = time.thread_time() + self._max_seconds
            try:
                cursor = self._connection.execute(statement)
                columns = tuple(column[0] for column in cursor.description or ())
                rows = cursor.fetchmany(limit + 1)
                cursor.close()
            except (
                sqlite3.Error,
                sqlite3.Warning,
                MemoryError,
                OverflowError,
                ValueError,
            ) as error:
                raise StatementError(self._explained(error)) from error
        return Result(columns, tuple(rows[:limit]), len(rows) > limit)

    def _names(self, statement: str) -> list[str]:
        names = [str(name) for (name,) in self._connection.execute(statement)]
        return sorted(name for name in names if not name.startswith("sqlite_"))

    def _read_columns(self, table: str) -> tuple[Column, ...]:
        quoted = '"' + table.replace('"', '""') + '"'
        refers = {
            str(row[3]): (str(row[2]), row[4])
            for row in self._connection.execute(f"PRAGMA foreign_key_list({quoted})")
        }
        rows = self._connection.execute(f"PRAGMA table_info({quoted})").fetchall()
        return tuple(
            Column(name, kind, key, self._target(refers.get(name)))
            for _, name, kind, _, _, key in rows
        )

    def _target(self, refers_to: tuple[str, Any] | None) -> tuple[str, str] | None:
        """Return a reference with its column, which may be left out where it is the key."""
        if refers_to is None or refers_to[1] is not None:
            return refers_to
        quoted = '"' + refers_to[0].replace('"', '""') + '"'
        rows = self._connection.execute(f"PRAGMA table_info({quoted})").fetchall()
        return refers_to[0], next((str(row[1]) for row in rows if row[5] == 1), "rowid")

    def _authorize(self, action: int, first: str | None, *rest: str | None) -> int:
        if action in _READING:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            name = str(rest[0])
            if not _REFUSED.fullmatch(name):
                return sqlite3.SQLITE_OK
            self._refuse(f"the function {name}() is not allowed")
        elif action == sqlite3.SQLITE_PRAGMA:
            if first in _PRAGMAS:
                return sqlite3.SQLITE_OK
            self._refuse(f"of the pragmas, {', '.join(_PRAGMAS)} are allowed, not {first}")
        return sqlite3.SQLITE_DENY

    def _refuse(self, why: str) -> None:
        self._refused = why

    def _tick(self) -> bool:
        self._ticks += 1
        return self._ticks * _TICK > self._max_steps or time.thread_time() > self._deadline

    def _explained(self, error: Exception) -> str:
        message = str(error)
        if self._refused:
            return self._refused
        if message.startswith("no such "):  # a name in it may be any of the words below
            return message
        if "interrupted" in message:
            if self._ticks * _TICK <= self._max_steps:
                return (
                    f"the statement takes more than {self._max_seconds:.0f} seconds of the "
                    "processor; search less text"
                )
            return (
                f"the statement takes more than {self._max_steps:,} steps; narrow what it joins "
                "and reads"
            )
        if "pattern too complex" in message:
            return f"a pattern of LIKE or GLOB has more than {MAX_PATTERN} bytes; write less"
        if "too big" in message and self._max_value is not None:
            return f"a text or a row has more than {self._max_value:,} bytes; read less at a time"
        if "one statement at a time" in message:
            return "that is more than one statement; write one"
        if "bindings" in message:
            return "the statement leaves a value open; write the value in its place"
        if "user-defined function" in message:
            return "a date or time cannot be read; the modifiers localtime and utc are not allowed"
        if any(word in message for word in ("not authorized", "denied", "prohibited")):
            return _ALLOWED
        return message or type(error).__name__


def beginning_of(statement: str) -> int:
    """Return the place behind the comments and the space that a statement begins with."""
    place = 0
    while comment := _COMMENT.match(statement, place):
        place = comment.end()
    return place


def _check_form(statement: str) -> None:
    """Raise `StatementError` where SQLite need not be asked."""
    if len(statement) > MAX_STATEMENT:
        raise StatementError(
            f"the statement has {len(statement):,} characters; at most {MAX_STATEMENT:,} are read"
        )
    place = beginning_of(statement)
    if not statement[place:].strip(";"):
        raise StatementError("there is no statement")
    # It reads too, but shows the inside of one version of SQLite.
    if _EXPLAIN.match(statement, place):
        raise StatementError("EXPLAIN is not allowed")
    try:
        statement.encode()
    except UnicodeEncodeError:
        raise StatementError("the statement holds half a character") from None
    copies = num_copies(statement)
    if copies > MAX_COPIES:
        raise StatementError(
            f"the tables that WITH names stand for {copies:,} copies of one another; at most "
            f"{MAX_COPIES:,} are made"
        )


_OPENING: dict[str, Any] = {
    "check_same_thread": False,
    "isolation_level": None,
    # Anew each time: SQLite counts a prepared statement's steps from one run to the next.
    "cached_statements": 0,
}


@cache
def site_database(name: str) -> Database:
    """Return one of the shipped databases, opened once per process."""
    connection = sqlite3.connect(":memory:", **_OPENING)
    connection.deserialize(open_content().database(name))
    return Database(connection, max_steps=MAX_STEPS, max_seconds=MAX_SECONDS, max_value=MAX_VALUE)


@cache
def file_database(path: Path) -> Database:
    """Return a database of a file, opened once per process.

    Raises:
        sqlite3.Error: the file is missing or no database.
    """
    # Immutable: it takes no lock, so a process may be forked with it.
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, **_OPENING
    )
    return Database(
        connection, max_steps=MAX_FILE_STEPS, max_seconds=MAX_FILE_SECONDS, max_value=None
    )
