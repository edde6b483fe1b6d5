"""Draws opening hours and writes them. Days count from Monday, 0; times are minutes of the day."""

from __future__ import annotations

import random

from agentgym_envs.webarena.sites.map.categories import ALWAYS, Hours

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SATURDAY, SUNDAY = 5, 6


def draw_week(hours: Hours, dice: random.Random) -> dict[int, tuple[int, int]]:
    """Return a week's opening and closing minutes; days on which it is shut are left out."""
    if dice.random() < hours.always:
        return {day: ALWAYS for day in range(7)}
    opens, closes = round(dice.choice(hours.opens) * 60), round(dice.choice(hours.closes) * 60)
    week = {day: (opens, closes) for day in range(5)}
    if dice.random() < hours.rest_day:
        del week[dice.choice((0, 0, 1, 2))]
    if hours.saturday == "same":
        week[SATURDAY] = (opens, closes)
    elif hours.saturday == "short":
        week[SATURDAY] = (opens, dice.choice((13, 14)) * 60)
    if dice.random() < hours.sunday:
        later = opens + dice.choice((0, 60, 120))
        week[SUNDAY] = (later, max(later + 120, closes - dice.choice((0, 60, 120, 180))))
    return week


def clock(minute: int) -> str:
    """Write a minute of the day: `09:30`, and `24:00` for its end."""
    return f"{minute // 60:02}:{minute % 60:02}"


def span(opens: int, closes: int) -> str:
    """Write one day's hours: `09:30-18:00` or `Open 24 hours`."""
    return "Open 24 hours" if (opens, closes) == ALWAYS else f"{clock(opens)}-{clock(closes)}"
