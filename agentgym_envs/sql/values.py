"""Values of SQLite: as SQL writes them, and as a policy reads them."""

from __future__ import annotations

from collections.abc import Sequence

Value = str | int | float | bytes | None
Row = tuple[Value, ...]

_MAX_CELL = 200
"""Characters of a value that a policy reads."""


def literal(value: Value) -> str:
    """Write a value as SQL does."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def shown(columns: Sequence[str], rows: Sequence[Row], *, limit: int, has_more: bool) -> str:
    """Write the first rows of a result as a policy reads them.

    Args:
        columns: their names.
        rows: of the result, those that were fetched.
        limit: rows that are written at most.
        has_more: there are rows that were not fetched.
    """
    lines = [" | ".join(columns), *(" | ".join(map(cell, row)) for row in rows[:limit])]
    count = f"more than {len(rows):,}" if has_more else f"{len(rows):,}"
    if len(rows) > limit or has_more:
        lines.append(f"(the first {min(limit, len(rows))} of {count} rows)")
    else:
        lines.append({0: "(no rows)", 1: "(1 row)"}.get(len(rows), f"({count} rows)"))
    return "\n".join(lines)


def cell(value: Value) -> str:
    """Return a value as a policy reads it, on one line and not too long."""
    text = value if isinstance(value, str) else literal(value)
    text = text.replace("\n", "\\n")
    return text if len(text) <= _MAX_CELL else f"{text[:_MAX_CELL]}... ({len(text)} characters)"
