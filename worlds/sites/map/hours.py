"""Draws opening hours. Days count from Monday, 0, and times are minutes of the day."""

from __future__ import annotations

from agentgym_envs.sites.map.hours import ALWAYS
from worlds.dice import Dice
from worlds.sites.map.kinds import Kind

SATURDAY, SUNDAY = 5, 6


def draw_week(kind: Kind, dice: Dice) -> dict[int, tuple[int, int]]:
    """Return a week's opening and closing minutes, by day. Closed days are left out."""
    if dice.chance(kind.always):
        return {day: ALWAYS for day in range(7)}
    opens, closes = round(dice.pick(kind.opens) * 60), round(dice.pick(kind.closes) * 60)
    week = {day: (opens, closes) for day in range(5)}
    if dice.chance(kind.rest_day):
        del week[dice.pick((0, 0, 1, 2))]
    if kind.saturday == "same":
        week[SATURDAY] = (opens, closes)
    elif kind.saturday == "short":
        week[SATURDAY] = (opens, dice.pick((13, 14)) * 60)
    if dice.chance(kind.sunday):
        later = opens + dice.pick((0, 60, 120))
        week[SUNDAY] = (later, max(later + 120, closes - dice.pick((0, 60, 120, 180))))
    return week
