"""Calls SQLite's own functions where a connection has others under their names."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from agentgym_envs.sql.values import Value

Builtin = Callable[[str, Sequence[Value]], Value]
"""Name and arguments of a function of SQLite's -> its value."""


def builtin_functions() -> Builtin:
    """Return what calls them, on a connection of its own."""
    own = sqlite3.connect(":memory:", check_same_thread=False)

    def call(name: str, arguments: Sequence[Value]) -> Value:
        marks = ", ".join("?" * len(arguments))
        value: Value = own.execute(f"SELECT {name}({marks})", arguments).fetchone()[0]
        return value

    return call
