"""Counts how often SQLite copies the tables that a statement's WITH names.

It copies a definition wherever the table is named, while it prepares the statement, where no step
is counted: twenty tables, each of which names the one before twice, take gigabytes.
"""

from __future__ import annotations

import re

MAX_COPIES = 50_000
"""Copies in one statement; one takes 2 to 3 kB."""

_DEFINITION = re.compile(
    r"\b(\w+)\s*(?:\([^()]*\)\s*)?\bas\s*(?:(?:not\s+)?materialized\s*)?\(", re.IGNORECASE
)
_TABLE = re.compile(r"(?<![\w.])\w+(?!\w|\s*\.)")
"""A word that qualifies no column, and is no column that is qualified."""


def num_copies(statement: str) -> int:
    """Return how many copies of the tables that a statement's WITH names are made, at most.

    Args:
        statement: in SQLite's dialect; words in texts count as names do.
    """
    statement = statement.lower()
    closed = _closing(statement)
    bodies = [
        (closed[match.end()], match.end(), match[1])
        for match in _DEFINITION.finditer(statement)
        if match.end() in closed
    ]
    copies: dict[str, int] = {}

    def made(start: int, end: int) -> int:
        words = (match[0] for match in _TABLE.finditer(statement, start, end))
        return sum(1 + copies[word] for word in words if word in copies)

    for end, start, name in sorted(bodies):  # what is defined within a body ends before it
        copies[name] = made(start, end)
    return made(0, len(statement))


def _closing(statement: str) -> dict[int, int]:
    """Return where each parenthesis is closed, by the place behind it."""
    opened: list[int] = []
    closed: dict[int, int] = {}
    for place, letter in enumerate(statement):
        if letter == "(":
            opened.append(place + 1)
        elif letter == ")" and opened:
            closed[opened.pop()] = place
    return closed
