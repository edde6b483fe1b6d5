"""Runs a policy's statements on a SQLite database: read-only, bounded, deterministic.

Each statement runs in a process of its database's own (`agentgym_envs.sql.worker`), so that what it
takes can be bounded, and nobody waits behind another one's.
"""

from __future__ import annotations

import atexit
import os
import pickle
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.cancellation import on_cancel
from agentgym_envs.machinery.exits import describe_returncode
from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.state import NOW
from agentgym_envs.sql.values import Row
from agentgym_envs.sql.worker import Limits, too_slow

NAMES = ("shopping", "reddit", "gitlab", "map")
"""The databases that are shipped, those of WebArena's sites."""

LIMITS = Limits(
    steps=2_000_000,
    memory=64 << 20,
    result=16 << 20,
    value=10_000,
    pattern=200,
    files=0,
    seconds=60.0,
)
"""Limits of a statement on a shipped database."""

FILE_LIMITS = Limits(
    steps=2_000_000_000,
    memory=512 << 20,
    result=128 << 20,
    value=None,
    pattern=0,
    files=4 << 30,
    seconds=600.0,
)
"""The same on a database of the user's own, which may be a thousand times as large."""

MAX_STATEMENT = 10_000
"""Characters of the longest statement."""

_WORKER = Path(__file__).with_name("worker.py")
_MAX_IDLE = 8
"""Processes of a database that are kept for the next statements."""
_PATIENCE = 10
"""A process's wall-clock limit, in multiples of its processor limit."""

_COMMENT = re.compile(r"[\s;\ufeff]+|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z)", re.DOTALL)
_EXPLAIN = re.compile(r"explain\b", re.IGNORECASE)


class StatementError(ValueError):
    """A statement cannot be run.

    The message says why, and what is allowed.
    """


class Result(NamedTuple):
    """The result of a statement.

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
    """A database that can only be read and that threads may share.

    Args:
        source: its content, or the URI of its file.
        limits: of a statement.

    Raises:
        sqlite3.Error: the file is missing or no database.
        EnvFailure: its process cannot be started.
    """

    def __init__(self, source: bytes | str, limits: Limits) -> None:
        self._setting = source, tuple(limits), NOW
        self._limits = limits
        self._idle: list[_Process] = []
        worker = _Process(self._setting)
        self._idle.append(worker)
        _databases.append(self)
        self.tables = tuple(worker.tables)
        """The names of its tables, in alphabetical order."""
        self._columns = {table: _columns(table, worker.tables) for table in self.tables}

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
            EnvFailure: its process cannot be started, or does not answer.
        """
        _check_form(statement)
        for is_last in (False, True):
            worker = self._take(is_fresh=is_last)
            try:
                is_answer, content = worker.ask((statement, limit), self._limits.seconds)
            except EOFError:
                if worker.cause_of_death == describe_returncode(-signal.SIGXCPU):
                    raise StatementError(too_slow(self._limits)) from None
                continue  # something else may have killed an idle one
            with _lock:
                is_kept = len(self._idle) < _MAX_IDLE
                if is_kept:
                    self._idle.append(worker)
            if not is_kept:
                worker.end()
            if not is_answer:
                why, original = content
                raise StatementError(why) from sqlite3.DatabaseError(original or why)
            columns, rows, has_more = content
            return Result(columns, tuple(rows), has_more)
        raise StatementError(f"the statement ended SQLite's process ({worker.cause_of_death})")

    def _take(self, *, is_fresh: bool) -> _Process:
        with _lock:
            if self._idle and not is_fresh:
                return self._idle.pop()
        return _Process(self._setting)

    def end_idle(self) -> None:
        """End the processes that run no statement."""
        with _lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def leave_idle(self) -> None:
        """Leave the processes to the one that this one was forked from."""
        _inherited.extend(self._idle)
        self._idle = []


class _Process:
    """A process that runs statements, one at a time.

    Args:
        setting: the database, the limits and the moment at which its clock stands.

    Attributes:
        tables: what the process has found in the database.
    """

    def __init__(self, setting: tuple[Any, ...]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", str(_WORKER), str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                )
            except OSError as error:
                ours.close()
                raise EnvFailure(f"SQLite's process cannot be started: {error}") from error
        self._pipe = Connection(ours.detach())
        try:
            is_open, content = self.ask(setting, 60.0)
        except EOFError:
            raise EnvFailure(f"SQLite's process died: {self.cause_of_death}") from None
        if not is_open:
            self.end()
            raise sqlite3.DatabaseError(content)
        self.tables: dict[str, tuple[list[Any], list[Any]]] = content

    def ask(self, message: tuple[Any, ...], seconds: float) -> tuple[bool, Any]:
        """Send a message and return the answer to it.

        Raises:
            EOFError: the process has died.
            EnvFailure: it does not answer.
        """
        patience = _PATIENCE * seconds
        with ExitStack() as failing:
            failing.callback(self.end)  # its answer would be taken for the next one's
            try:
                with on_cancel(self._process.kill):
                    self._pipe.send_bytes(pickle.dumps(message))
                    if not self._pipe.poll(patience):
                        raise EnvFailure(f"SQLite gave no answer within {patience:.0f} s")
                    answer: tuple[bool, Any] = pickle.loads(self._pipe.recv_bytes())
            except ConnectionError:
                raise EOFError from None
            failing.pop_all()
        return answer

    @property
    def cause_of_death(self) -> str:
        """Describe the end of the process."""
        return describe_returncode(self._process.wait())

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._pipe.close()
        self._process.kill()
        self._process.wait()


def statement_start(statement: str) -> int:
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
    place = statement_start(statement)
    if not statement[place:].strip(";"):
        raise StatementError("there is no statement")
    # It reads too, but shows the inside of one version of SQLite.
    if _EXPLAIN.match(statement, place):
        raise StatementError("EXPLAIN is not allowed")
    try:
        statement.encode()
    except UnicodeEncodeError:
        raise StatementError("the statement holds half a character") from None


def _columns(table: str, tables: dict[str, tuple[list[Any], list[Any]]]) -> tuple[Column, ...]:
    listed, references = tables[table]
    refers = {row[3]: (row[2], row[4] or _key_of(row[2], tables)) for row in references}
    return tuple(Column(name, kind, key, refers.get(name)) for _, name, kind, _, _, key in listed)


def _key_of(table: str, tables: dict[str, tuple[list[Any], list[Any]]]) -> str:
    """Return the column that a reference means which names none."""
    listed = next((own for name, (own, _) in tables.items() if name.lower() == table.lower()), [])
    return next((row[1] for row in listed if row[5] == 1), "rowid")


_lock = threading.Lock()
_databases: list[Database] = []
_inherited: list[_Process] = []


def _end_all() -> None:
    for database in _databases:
        database.end_idle()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # the parent's may have been held by another thread
    for database in _databases:
        database.leave_idle()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_after_fork)


@cache
def site_database(name: str) -> Database:
    """Return one of the shipped databases, opened once per process."""
    return Database(open_content().database(name), LIMITS)


@cache
def file_database(path: Path) -> Database:
    """Return a database of a file, opened once per process.

    Raises:
        sqlite3.Error: the file is missing or no database.
    """
    # Immutable: it takes no lock, and nobody else writes.
    return Database(f"{path.resolve().as_uri()}?mode=ro&immutable=1", FILE_LIMITS)
