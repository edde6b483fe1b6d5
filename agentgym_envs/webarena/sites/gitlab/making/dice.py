"""Draws for the generators: fast, and the same on every version of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


class Dice:
    """Random choices from one stream.

    Args:
        rng: seeds the stream.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        # Only `random()` is used: its stream is promised to stay the same, and it is far faster
        # than NumPy's for one number at a time.
        self._random = random.Random(int(rng.integers(2**62))).random

    def below(self, limit: int) -> int:
        """Return a whole number of 0..limit-1."""
        return int(self._random() * limit)

    def between(self, low: int, high: int) -> int:
        """Return a whole number of low..high."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one item."""
        return items[self.below(len(items))]

    def early(self, items: Sequence[Item]) -> Item:
        """Return one item, the first ones far more often than the last ones."""
        return items[int(self._random() ** 2.2 * len(items))]

    def sample(self, items: Sequence[Item], number: int) -> list[Item]:
        """Return this many different items, in drawn order; all of them if there are no more."""
        pool = list(items)
        number = min(number, len(pool))
        for place in range(number):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:number]

    def moment(self, first: datetime, last: datetime) -> datetime:
        """Return a moment in between, at an hour when people work."""
        seconds = max(1, int((last - first).total_seconds()))
        result = first + timedelta(seconds=self.below(seconds))
        return min(max(result.replace(hour=8 + result.hour % 13), first), last)


def written(moment: datetime) -> str:
    """Write a moment as the database holds it."""
    return moment.isoformat(" ", "seconds")
