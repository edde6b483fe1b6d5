"""Bounds the widths of SQLite's printf, one call of which may write gigabytes in a single step."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable

from agentgym_envs.sql.values import Value

MAX_WIDTH = 10_000
"""Characters that a width or a precision may ask for."""

_NUMBERS = re.compile(r"\d+")


def bound_printf(connection: sqlite3.Connection, refuse: Callable[[str], None]) -> None:
    """Let `printf` and `format` fail on widths above `MAX_WIDTH`.

    Args:
        connection: to the database.
        refuse: is told why, since SQLite does not pass a function's message on.
    """
    own = sqlite3.connect(":memory:", check_same_thread=False)

    def bounded(name: str) -> Callable[..., Value]:
        def function(*arguments: Value) -> Value:
            text = str(arguments[0]) if arguments else ""
            widths = [int(number[:10]) for number in _NUMBERS.findall(text)]
            if "*" in text:
                widths += [abs(value) for value in arguments[1:] if isinstance(value, int)]
            if max(widths, default=0) > MAX_WIDTH:
                refuse(f"a width of more than {MAX_WIDTH:,} characters is not allowed in {name}()")
                raise ValueError(f"{name}() asks for too wide a text")
            marks = ", ".join("?" * len(arguments))
            row = own.execute(f"SELECT {name}({marks})", arguments).fetchone()
            value: Value = row[0]
            return value

        return function

    has_format = sqlite3.sqlite_version_info >= (3, 38)
    for name in ("printf", *(["format"] if has_format else [])):
        connection.create_function(name, -1, bounded(name), deterministic=True)
