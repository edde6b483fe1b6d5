"""Writes values as the sites' pages show them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from agentgym_envs.core.text import counted

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def money(cents: int) -> str:
    """Write an amount of cents: `$1,234.50`."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02}"


def day(moment: str) -> str:
    """Write the day of a moment `YYYY-MM-DD[ HH:MM:SS]`: `14 March 2026`."""
    date = datetime.fromisoformat(moment)
    return f"{date.day} {MONTHS[date.month - 1]} {date.year}"  # strftime would ask the locale


FILTERS: dict[str, Callable[..., Any]] = {"money": money, "day": day, "count": counted}
"""The filters of templates, by name."""
