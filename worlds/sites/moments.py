"""Draws moments, and writes them as the databases hold them."""

from __future__ import annotations

from datetime import datetime, timedelta

from agentgym_envs.sites.state import NOW
from worlds.dice import Dice

TODAY = datetime.fromisoformat(NOW)


def working_moment(dice: Dice, first: datetime, last: datetime) -> datetime:
    """Return a moment in between, at an hour when people work."""
    seconds = max(1, int((last - first).total_seconds()))
    result = first + timedelta(seconds=dice.below(seconds))
    return min(max(result.replace(hour=8 + result.hour % 13), first), last)


def timestamp(moment: datetime) -> str:
    """Return a moment as the databases hold it."""
    return moment.isoformat(" ", "seconds")
