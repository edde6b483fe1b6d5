"""Bounds the widths of SQLite's printf, one call of which may write gigabytes in a single step."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from agentgym_envs.sql.builtin import builtin_functions
from agentgym_envs.sql.values import Value

MAX_WIDTH = 10_000
"""Characters that a width or a precision may ask for."""

_CONVERSION = re.compile(r"%[-+ #!,0]*(\*|\d*)(?:\.(\*|\d*))?l*(.?)", re.DOTALL)
_WITHOUT_ARGUMENT = ("%", "n")


def bound_printf(connection: sqlite3.Connection, refuse: Callable[[str], None]) -> None:
    """Let `printf` and `format` fail on widths above `MAX_WIDTH`.

    Args:
        connection: to the database.
        refuse: is told why, since SQLite does not pass a function's message on.
    """
    call = builtin_functions()

    def bounded(name: str) -> Callable[..., Value]:
        def function(*arguments: Value) -> Value:
            if arguments and max(_widths(str(arguments[0]), arguments[1:]), default=0) > MAX_WIDTH:
                refuse(f"a width of more than {MAX_WIDTH:,} characters is not allowed in {name}()")
                raise ValueError(f"{name}() asks for too wide a text")
            return call(name, arguments)

        return function

    has_format = sqlite3.sqlite_version_info >= (3, 38)
    for name in ("printf", *(["format"] if has_format else [])):
        connection.create_function(name, -1, bounded(name), deterministic=True)


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
