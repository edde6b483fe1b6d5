"""Writes numbers into texts: counts, the turns left, and the omitted characters."""

from __future__ import annotations

import re

LAST_TURNS = 3
"""Observations of the last turns, up to this number, say which turn it is."""

_TURN_LINE = re.compile(r"\n\n\(This is turn \d+ of \d+\.\)\Z")


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number of things: `1 review`, `3 reviews`, `1,200 entries`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def append_turn_notice(observation: str, *, turn: int, limit: int) -> str:
    """Add a last line that names the next turn, where few are left.

    Args:
        observation: what the policy reads before that turn.
        turn: the next turn, from 1.
        limit: the last one.
    """
    if limit - turn >= LAST_TURNS:
        return observation
    return f"{observation}\n\n(This is turn {turn} of {limit}.)"


def remove_turn_notice(observation: str) -> str:
    """Return an observation without the line of `append_turn_notice`, the same in every turn."""
    return _TURN_LINE.sub("", observation)


def truncate(text: str, limit: int | None) -> str:
    """Return at most `limit` characters of an observation, and how many are left out."""
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]}... ({len(text) - limit:,} more characters are left out)"
