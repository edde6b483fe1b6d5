"""Lets SQLite's clock stand still, as the clock of the sites does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from agentgym_envs.sql.builtin import builtin_functions
from agentgym_envs.sql.values import Value
from agentgym_envs.webarena.sites.state import NOW

_CLOCKS = ("date", "time", "datetime", "julianday", "strftime", "unixepoch")
_DIFFERENCE = "timediff"
"""From SQLite 3.43 on."""

_NOW = ("now", "subsec", "subsecond")
"""Time values that mean now; the last two from SQLite 3.42 on, as modifiers too."""

_MACHINE_TIME = ("localtime", "utc")


def fix_the_clock(connection: sqlite3.Connection) -> None:
    """Let SQLite's clock stand still where the sites' clock does."""
    call = builtin_functions()

    def fixed(name: str) -> Callable[..., Value]:
        def function(*arguments: Value) -> Value:
            if any(_lowered(argument) in _MACHINE_TIME for argument in arguments):
                raise ValueError("the machine's time zone is not allowed")
            first = 1 if name == "strftime" else 0
            values = list(arguments) if len(arguments) > first else [*arguments, "now"]
            if name == _DIFFERENCE:
                values = [NOW if word in _NOW else value for word, value in _with_words(values)]
            else:
                if _lowered(values[first]) in _NOW[1:]:
                    values.insert(first, "now")
                values[first:] = [
                    NOW if word == "now" else value for word, value in _with_words(values[first:])
                ]
            return call(name, values)

        return function

    has_difference = sqlite3.sqlite_version_info >= (3, 43)
    for name in (*_CLOCKS, *([_DIFFERENCE] if has_difference else [])):
        connection.create_function(name, -1, fixed(name), deterministic=True)
    day, _, moment = NOW.partition(" ")
    for name, value in (("date", day), ("time", moment), ("timestamp", NOW)):
        connection.create_function(
            f"current_{name}", 0, lambda value=value: value, deterministic=True
        )


def _with_words(values: Sequence[Value]) -> list[tuple[str, Value]]:
    """Return the values, each behind its word in small letters."""
    return [(_lowered(value), value) for value in values]


def _lowered(value: Value) -> str:
    return str(value).strip().lower()
