"""Lays out a town's streets: two that cross in the centre, and others along and across them.

Positions are km on the sheet of the country.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, log10, pi, sin, sqrt

from worlds.dice import Dice
from worlds.sites.map.geography import TownSite
from worlds.sites.map.words import CENTRAL_STREETS, STREET_NAMES

HOUSE = 0.018  # km of street for a house on either side


@dataclass(frozen=True)
class Street:
    """A street, straight from `start` to `end`, its house numbers rising on the way.

    Attributes:
        name: unique within its town.
        postcode: five digits.
        start: (x, y) in km.
        end: (x, y) in km.
    """

    name: str
    postcode: str
    start: tuple[float, float]
    end: tuple[float, float]

    @property
    def last_house(self) -> int:
        """The highest house number."""
        length = sqrt((self.end[0] - self.start[0]) ** 2 + (self.end[1] - self.start[1]) ** 2)
        return max(12, int(length / HOUSE) * 2)

    def house(self, number: int) -> tuple[float, float]:
        """Return a house's position, to the metre. Odd numbers are on the left."""
        share = number / (self.last_house + 1)
        dx, dy = self.end[0] - self.start[0], self.end[1] - self.start[1]
        length = sqrt(dx * dx + dy * dy) or 1.0
        side = 0.012 if number % 2 else -0.012
        x = self.start[0] + dx * share - dy / length * side
        y = self.start[1] + dy * share + dx / length * side
        return round(x, 3), round(y, 3)


def lay_out(town: TownSite, prefix: str, dice: Dice, scale: int) -> list[Street]:
    """Return a town's streets. `prefix` holds the first three digits of the postcodes."""
    radius = 0.55 + 0.95 * log10(town.population / 4000)
    number = (10 + int(6 * log10(town.population / 4000))) * scale
    names = [*CENTRAL_STREETS, *dice.sample(STREET_NAMES, number - 2)]
    number = len(names)  # the word list may hold fewer
    along = dice.uniform(0, pi)
    streets = []
    for index, name in enumerate(names):
        angle = along + (pi / 2 if index % 2 else 0)
        angle += 0 if index < 2 else dice.uniform(-0.16, 0.16)
        rank, ranks = index // 2, (number + 1) // 2
        # 0, then further out on either side in turn
        offset = ((rank + 1) // 2) * (1 if rank % 2 else -1) * 2 * radius / (ranks + 1)
        half = sqrt(max(radius**2 - offset**2, 0.2)) * dice.uniform(0.75, 1.0)
        x = town.x - sin(angle) * offset
        y = town.y + cos(angle) * offset
        start = (round(x - cos(angle) * half, 3), round(y - sin(angle) * half, 3))
        end = (round(x + cos(angle) * half, 3), round(y + sin(angle) * half, 3))
        streets.append(Street(name, f"{prefix}{index + 1:02}", start, end))
    return streets
