"""Lists texts that the agent is asked to write, none of which is on the forum yet."""

from __future__ import annotations

from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.tasks.words import WORDS

_REMARKS: tuple[str, ...] = WORDS["reddit"]["remarks"]

_TITLES: tuple[str, ...] = WORDS["reddit"]["titles"]

_BIOGRAPHIES: tuple[str, ...] = WORDS["reddit"]["biographies"]

_KINDS: tuple[str, ...] = WORDS["reddit"]["circle_kinds"]
_CIRCLES: tuple[str, ...] = WORDS["reddit"]["circles"]
_RULES: tuple[str, ...] = WORDS["reddit"]["rules"]

_MOST = 28
"""No number is larger, as some are days of a month."""


def _filled(pattern: str, dice: Dice) -> str:
    number = dice.between(2, _MOST)
    return pattern.format(town=dice.pick(TOWNS), n=number, nth=_ordinal(number))


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def remark(dice: Dice) -> str:
    """Draw a comment or message of one sentence."""
    return _filled(dice.pick(_REMARKS), dice)


def title(dice: Dice) -> str:
    """Draw a post's title."""
    return _filled(dice.pick(_TITLES), dice)


def biography(dice: Dice) -> str:
    """Draw a person's biography."""
    return _filled(dice.pick(_BIOGRAPHIES), dice)


def circle(dice: Dice) -> tuple[str, str]:
    """Draw a new community's title and the name that goes with it."""
    words = f"{dice.pick(_KINDS)} {dice.pick(_CIRCLES)}"
    return words, words.lower().replace(" ", "-")


def rule(dice: Dice) -> str:
    """Draw a sidebar."""
    return _filled(dice.pick(_RULES), dice)
