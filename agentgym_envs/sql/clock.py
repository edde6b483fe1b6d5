"""Lets SQLite's clock stand still, as the clock of the sites does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from agentgym_envs.sql.values import Value
from agentgym_envs.webarena.sites.state import NOW

_CLOCKS = ("date", "time", "datetime", "julianday", "strftime", "unixepoch")
_MACHINE_TIME = ("localtime", "utc")


def fix_the_clock(connection: sqlite3.Connection) -> None:
    """Let SQLite's clock stand still where the sites' clock does."""
    clock = sqlite3.connect(":memory:", check_same_thread=False)

    def fixed(name: str) -> Callable[..., Value]:
        def function(*arguments: Value) -> Value:
            spoken = [str(argument).strip().lower() for argument in arguments]
            if any(word in _MACHINE_TIME for word in spoken):
                raise ValueError("the machine's time zone is not allowed")
            first = 1 if name == "strftime" else 0
            values = list(arguments) if len(arguments) > first else [*arguments, "now"]
            values[first:] = [
                NOW if word == "now" else value
                for word, value in zip(map(_lowered, values[first:]), values[first:], strict=True)
            ]
            marks = ", ".join("?" * len(values))
            row = clock.execute(f"SELECT {name}({marks})", values).fetchone()
            value: Value = row[0]
            return value

        return function

    for name in _CLOCKS:
        connection.create_function(name, -1, fixed(name), deterministic=True)
    day, _, moment = NOW.partition(" ")
    for name, value in (("date", day), ("time", moment), ("timestamp", NOW)):
        connection.create_function(
            f"current_{name}", 0, lambda value=value: value, deterministic=True
        )


def _lowered(value: Value) -> str:
    return str(value).strip().lower()
