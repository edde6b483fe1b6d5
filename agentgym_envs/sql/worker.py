"""The process that runs a policy's statements on one SQLite database, and nothing else.

An authorizer lets only reading through. What a statement may take is bounded by SQLite itself: a
heap limit bounds its memory, a progress handler counts the steps of its machine, and functions that
compare long texts count by their lengths. So the same statement ends in the same way on every
machine; functions that would answer differently tomorrow are fixed or refused.

Run as a script by `agentgym_envs.sql.database`, with the file descriptor of its connection. Only
the standard library is imported, so that a process is small and soon there.
"""

from __future__ import annotations

import os
import pickle
import re
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import ceil
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from agentgym_envs.sql.values import Value

TICK = 1_000
"""Steps between two counts."""

PRAGMAS = (
    "table_info",
    "table_xinfo",
    "table_list",
    "foreign_key_list",
    "index_list",
    "index_info",
)

_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
_REFUSED = re.compile(
    r"load_extension|fts3_tokenizer|random|randomblob|changes|total_changes|last_insert_rowid"
    r"|sqlite_\w+|fts5_source_id|json_patch",
    re.IGNORECASE,
)
"""Functions that reach out of the database, or whose values it does not fix. The last one
takes the square of its texts' lengths."""

_COMPARING = (
    *(("like", 2), ("like", 3), ("glob", 2), ("instr", 2), ("replace", 3)),
    *(("trim", 2), ("ltrim", 2), ("rtrim", 2)),
)
"""Functions, by number of arguments, whose cost may be the product of two texts' lengths."""
_COMPARISONS_PER_STEP = 500
_FORMATTING = ("printf", *(["format"] if sqlite3.sqlite_version_info >= (3, 38) else []))
_CONVERSION = re.compile(r"%[-+ #!,0]*(\*|\d*)(?:\.(\*|\d*))?l*(.?)", re.DOTALL)
_WITHOUT_ARGUMENT = ("%", "n")

_CLOCKS = ("date", "time", "datetime", "julianday", "strftime", "unixepoch")
_DIFFERENCE = "timediff"
"""From SQLite 3.43 on."""
_NOW = ("now", "subsec", "subsecond")
"""Time values that mean now.

The last two do from SQLite 3.42 on, as modifiers too.
"""
_MACHINE_TIME = ("localtime", "utc")

_ONLY_READS = "only one statement that reads is allowed"
_SPARE_MEMORY = 512 << 20
"""Bytes of the process beside twice SQLite's heap."""
_SPARE_SECONDS = 5


class Limits(NamedTuple):
    """The bounds of a statement.

    Attributes:
        steps: of SQLite's machine.
        memory: bytes of SQLite's heap, beside a database that lies in it.
        result: bytes of the rows that are returned.
        value: bytes of the longest text or row; None leaves SQLite's limit, and counts no lengths.
        pattern: bytes of the longest pattern of LIKE and GLOB, likewise.
        files: bytes of the longest temporary file; 0 has none.
        seconds: of the processor, as a last resort.
    """

    steps: int
    memory: int
    result: int
    value: int | None
    pattern: int
    files: int
    seconds: float


class Refusal(Exception):
    """Why a statement cannot be run, with SQLite's own words."""


class Reader:
    """A database that can only be read.

    Args:
        connection: to it; it belongs to this object from now on.
        limits: of a statement.
        now: the moment at which the clock stands still.

    Attributes:
        tables: by their names, the rows of `table_info` and of `foreign_key_list` of each.
        steps: that the last statement took, rounded up to `TICK`.
    """

    def __init__(self, connection: sqlite3.Connection, limits: Limits, *, now: str) -> None:
        self.steps = 0
        self._connection = connection
        self._limits = limits
        self._deadline = 0.0
        self._refused = ""
        self._is_own = False
        self._parent = os.getppid()
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        self._own = sqlite3.connect(":memory:")  # has the functions that others stand for there
        if limits.value is not None:
            for each in (connection, self._own):
                each.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.value)
                each.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, limits.pattern)
        self.tables = self._read_tables()
        self._fix_the_clock(now)
        if limits.value is not None:
            self._count_lengths()
        # A table that is a function is made when it is first read, which takes more than reading.
        for pragma in PRAGMAS:
            connection.execute(f"SELECT 1 FROM pragma_{pragma}('')").close()
        for function in ("json_each", "json_tree"):
            connection.execute(f"SELECT 1 FROM {function}('[]')").close()
        if not limits.files:
            connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA query_only = ON")
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._tick, TICK)

    def run(self, statement: str, limit: int) -> tuple[tuple[str, ...], list[Any], bool]:
        """Run one statement.

        Args:
            statement: in SQLite's dialect.
            limit: rows to return at most.

        Returns:
            The names of the columns, the rows, and whether there are more.

        Raises:
            Refusal: it is none, does more than reading, is too much work, or is wrong.
        """
        self._is_own = True  # what was run before leaves nothing in the heap
        self._connection.execute("PRAGMA shrink_memory").close()
        self._is_own = False
        self.steps, self._refused = 0, ""
        self._deadline = time.process_time() + self._limits.seconds
        try:
            cursor = self._connection.execute(statement)
            columns = tuple(column[0] for column in cursor.description or ())
            rows = self._fetched(cursor, limit + 1)
            cursor.close()
        except (
            sqlite3.Error,
            sqlite3.Warning,
            MemoryError,
            OverflowError,
            ValueError,
        ) as error:
            raise Refusal(self._explained(error), str(error)) from error
        return columns, rows[:limit], len(rows) > limit

    def _fetched(self, cursor: sqlite3.Cursor, count: int) -> list[Any]:
        rows: list[Any] = []
        size = 0
        while len(rows) < count and (row := cursor.fetchone()) is not None:
            size += sum(map(_size, row))
            if size > self._limits.result:
                self._refused = (
                    f"the result has more than {self._limits.result >> 20} MB; read less at a time"
                )
                raise ValueError(self._refused)
            rows.append(row)
        return rows

    # What is known of the database -----------------------------------------------------------

    def _read_tables(self) -> dict[str, tuple[list[Any], list[Any]]]:
        names = self._rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        return {
            name: (self._described("table_info", name), self._described("foreign_key_list", name))
            for (name,) in names
            if not name.startswith("sqlite_")
        }

    def _described(self, pragma: str, table: str) -> list[Any]:
        quoted = '"' + table.replace('"', '""') + '"'
        return self._rows(f"PRAGMA {pragma}({quoted})")

    def _rows(self, statement: str) -> list[Any]:
        return self._connection.execute(statement).fetchall()

    # What is allowed, and how much ------------------------------------------------------------

    def _authorize(self, action: int, first: str | None, *rest: str | None) -> int:
        if action in _READING or self._is_own:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            name = str(rest[0])
            if not _REFUSED.fullmatch(name):
                return sqlite3.SQLITE_OK
            self._refused = f"the function {name}() is not allowed"
        elif action == sqlite3.SQLITE_PRAGMA:
            if first in PRAGMAS:
                return sqlite3.SQLITE_OK
            self._refused = f"of the pragmas, {', '.join(PRAGMAS)} are allowed, not {first}"
        return sqlite3.SQLITE_DENY

    def _tick(self) -> bool:
        if os.getppid() != self._parent:
            os._exit(1)  # nobody waits for the answer any more
        self.steps += TICK
        return self.steps > self._limits.steps or time.process_time() > self._deadline

    def _charge(self, steps: int) -> None:
        """Count the steps that a function is worth."""
        self.steps += steps
        if self.steps > self._limits.steps:
            self._refused = self._too_many_steps
            raise ValueError(self._refused)

    @property
    def _too_many_steps(self) -> str:
        return (
            f"the statement takes more than {self._limits.steps:,} steps; narrow what it joins "
            "and reads"
        )

    def _explained(self, error: Exception) -> str:
        message = str(error)
        if self._refused:
            return self._refused
        if message.startswith("no such "):  # a name in it may be any of the words below
            return message
        if isinstance(error, MemoryError):
            return (
                f"the statement takes more than {self._limits.memory >> 20} MB of memory; narrow "
                "what it joins and reads"
            )
        if "interrupted" in message:
            if self.steps > self._limits.steps:
                return self._too_many_steps
            return too_slow(self._limits)
        if "pattern too complex" in message:
            return f"a pattern of LIKE or GLOB has more than {self._limits.pattern} bytes"
        most = self._limits.value
        if "too big" in message and most is not None:
            return f"a text or a row has more than {most:,} bytes; read less at a time"
        if "one statement at a time" in message:
            return "that is more than one statement; write one"
        if "bindings" in message:
            return "the statement leaves a value open; write the value in its place"
        if "user-defined function" in message:
            return "a date or time cannot be read; the modifiers localtime and utc are not allowed"
        if any(word in message for word in ("not authorized", "denied", "prohibited")):
            return _ONLY_READS
        return message or type(error).__name__

    # Functions --------------------------------------------------------------------------------

    def _call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Call SQLite's own function of a name."""
        marks = ", ".join("?" * len(arguments))
        try:
            value: Value = self._own.execute(f"SELECT {name}({marks})", arguments).fetchone()[0]
        except sqlite3.Error as error:
            self._refused = self._explained(error)  # SQLite does not pass a function's message on
            raise
        return value

    def _count_lengths(self) -> None:
        """Let functions that read long texts in a single step count by their lengths."""
        for name, count in _COMPARING:
            self._replace(name, count, _comparing_steps)
        for name in _FORMATTING:
            self._replace(name, -1, _formatting_steps)

    def _replace(self, name: str, count: int, steps: Callable[..., int]) -> None:
        def function(*arguments: Value) -> Value:
            self._charge(steps(*arguments))
            return self._call(name, arguments)

        self._connection.create_function(name, count, function, deterministic=True)

    def _fix_the_clock(self, now: str) -> None:
        """Let SQLite's clock stand still."""

        def fixed(name: str) -> Callable[..., Value]:
            def function(*arguments: Value) -> Value:
                if any(_lowered(argument) in _MACHINE_TIME for argument in arguments):
                    raise ValueError("the machine's time zone is not allowed")
                self._charge(sum(map(_size, arguments)))
                return self._call(name, _at(now, name, arguments))

            return function

        has_difference = sqlite3.sqlite_version_info >= (3, 43)
        for name in (*_CLOCKS, *([_DIFFERENCE] if has_difference else [])):
            self._connection.create_function(name, -1, fixed(name), deterministic=True)
        day, _, moment = now.partition(" ")
        for name, value in (("date", day), ("time", moment), ("timestamp", now)):
            self._connection.create_function(
                f"current_{name}", 0, lambda value=value: value, deterministic=True
            )


def too_slow(limits: Limits) -> str:
    """Return the message about a statement that the clock has ended."""
    return f"the statement takes more than {limits.seconds:.0f} seconds of the processor; read less"


def _at(now: str, name: str, arguments: Sequence[Value]) -> list[Value]:
    """Return the arguments of a function of time, with a moment in place of now."""
    first = 1 if name == "strftime" else 0
    values = list(arguments) if len(arguments) > first else [*arguments, "now"]
    if name == _DIFFERENCE:
        return [now if _lowered(value) in _NOW else value for value in values]
    if _lowered(values[first]) in _NOW[1:]:
        values.insert(first, "now")
    values[first:] = [now if _lowered(value) == "now" else value for value in values[first:]]
    return values


def _lowered(value: Value) -> str:
    return str(value).strip().lower()


def _size(value: Value) -> int:
    """Return the bytes of a value, about."""
    return len(value) if isinstance(value, (str, bytes)) else 8


def _comparing_steps(*arguments: Value) -> int:
    return _size(arguments[0]) * _size(arguments[1]) // _COMPARISONS_PER_STEP


def _formatting_steps(*arguments: Value) -> int:
    widths = _widths(str(arguments[0]), arguments[1:]) if arguments else ()
    return sum(map(_size, arguments)) + sum(widths)


def _widths(form: str, arguments: Sequence[Value]) -> Iterator[int]:
    """Yield the widths and the precisions that a format asks for."""
    values = iter(arguments)
    for *sizes, kind in _CONVERSION.findall(form):
        for size in sizes:
            text = str(next(values, 0)) if size == "*" else size
            if number := re.match(r"\s*[-+]?(\d+)", text):
                yield int(number[1][:12])
        if kind not in _WITHOUT_ARGUMENT:
            next(values, None)


def open_database(source: bytes | str) -> sqlite3.Connection:
    """Open a database: its content, or the URI of its file.

    Raises:
        sqlite3.Error: the file is missing.
    """
    connection: sqlite3.Connection = sqlite3.connect(
        source if isinstance(source, str) else ":memory:",
        uri=isinstance(source, str),
        isolation_level=None,
        # Anew each time: SQLite counts a prepared statement's steps from one run to the next.
        cached_statements=0,
    )
    if isinstance(source, bytes):
        connection.deserialize(source)
    return connection


def main() -> None:
    """Serve the connection named on the command line until the parent closes it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    pipe = Connection(int(sys.argv[1]))
    with suppress(EOFError, ConnectionError):
        source, numbers, now = pickle.loads(pipe.recv_bytes())
        limits = Limits(*numbers)
        try:
            database = open_database(source)
            _bound_memory(database, limits, len(source) if isinstance(source, bytes) else 0)
            reader = Reader(database, limits, now=now)
        except sqlite3.Error as error:
            pipe.send_bytes(pickle.dumps((False, str(error))))
            return
        pipe.send_bytes(pickle.dumps((True, reader.tables)))
        while True:
            statement, limit = pickle.loads(pipe.recv_bytes())
            _bound_processor(limits)
            try:
                answer: tuple[bool, Any] = True, reader.run(statement, limit)
            except Refusal as refusal:
                answer = False, refusal.args
            pipe.send_bytes(pickle.dumps(answer))


def _bound_memory(database: sqlite3.Connection, limits: Limits, size: int) -> None:
    """Bound SQLite's heap and the files that this process may write.

    The heap holds a database of `size` bytes besides.
    """
    database.execute(f"PRAGMA hard_heap_limit = {limits.memory + size}").close()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.files, limits.files))
    with suppress(ValueError, OSError):  # the last resort, which is not for every system to keep
        most = 2 * (limits.memory + size) + _SPARE_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _bound_processor(limits: Limits) -> None:
    """Have the system end this process where a single step does not end, or no step has begun."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = ceil(time.process_time() + limits.seconds) + _SPARE_SECONDS
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


if __name__ == "__main__":
    main()
