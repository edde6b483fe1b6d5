"""Names of people and places in invented cultures, put together from parts."""

from __future__ import annotations

from dataclasses import dataclass

from worlds.dice import Dice
from worlds.searchqa.tables import table

REAL_NAMES = frozenset(table("names")["real_places"].split())
"""Places that exist and that the parts could spell."""


@dataclass(frozen=True)
class Culture:
    """A people's names: each part is a list of beginnings and one of endings."""

    male: tuple[str, str]
    female: tuple[str, str]
    surname: tuple[str, str]
    place: tuple[str, str]

    def given_name(self, dice: Dice, gender: str) -> str:
        """Make a given name."""
        return _join(dice, self.male if gender == "male" else self.female)

    def family_name(self, dice: Dice) -> str:
        """Make a family name."""
        return _join(dice, self.surname)

    def place_name(self, dice: Dice) -> str:
        """Make the name of a town, river, lake or mountain."""
        while (name := _join(dice, self.place)).casefold() in REAL_NAMES:
            continue
        return name


def _join(dice: Dice, parts: tuple[str, str]) -> str:
    starts, ends = (part.split() for part in parts)
    start, end = dice.pick(starts), dice.pick(ends)
    if start[-1] == end[0]:
        end = end[1:]
    return start + end


CULTURES = {name: Culture(**parts) for name, parts in table("names")["cultures"].items()}
