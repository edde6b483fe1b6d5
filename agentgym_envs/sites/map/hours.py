"""Formats opening hours. Monday is day 0, times are minutes of the day."""

from __future__ import annotations

ALWAYS = (0, 24 * 60)
"""Opening and closing minute of a place that never shuts."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def clock(minute: int) -> str:
    """Write a minute of the day: `09:30`, and `24:00` for its end."""
    return f"{minute // 60:02}:{minute % 60:02}"


def span(opens: int, closes: int) -> str:
    """Write one day's hours: `09:30-18:00` or `Open 24 hours`."""
    return "Open 24 hours" if (opens, closes) == ALWAYS else f"{clock(opens)}-{clock(closes)}"
