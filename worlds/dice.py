"""Dice that roll the same on every machine, under every version of Python and of NumPy."""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate
from typing import TypeVar

Item = TypeVar("Item")


def stable_number(*key: object) -> int:
    """Return a 64-bit number that depends on the key's text alone."""
    text = "/".join(map(str, key))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


class Dice:
    """Draws from a stream that a key of strings and numbers fixes.

    Only `Random(int).random()` is used, whose stream Python promises to keep; the choices are made
    from it here, since those of `random` may change.

    Args:
        *key: names the stream.
    """

    def __init__(self, *key: object) -> None:
        self.random = random.Random(stable_number(*key)).random
        """Draws from 0 up to, but not including, 1."""

    def below(self, count: int) -> int:
        """Return one of 0 .. count - 1."""
        return int(self.random() * count)

    def between(self, low: int, high: int) -> int:
        """Return one of low .. high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.random() < probability

    def uniform(self, low: float, high: float) -> float:
        """Return a number from low up to high."""
        return low + (high - low) * self.random()

    def tail(self, mean: float) -> float:
        """Return a number from an exponential distribution."""
        return -mean * math.log(1.0 - self.random())

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[self.below(len(items))]

    def early(self, items: Sequence[Item]) -> Item:
        """Return one of the items, the first ones far more often than the last ones."""
        return items[int(self.random() ** 2.2 * len(items))]

    def weighted(self, items: Sequence[Item], cumulative: Sequence[float]) -> Item:
        """Return one of the items by weight; `cumulative` holds the weights' running sums."""
        place = bisect.bisect(cumulative, self.random() * cumulative[-1], hi=len(items) - 1)
        return items[place]

    def by_weight(self, items: Sequence[Item], weights: Sequence[float]) -> Item:
        """Return one of the items, each as often as its weight says."""
        return self.weighted(items, list(accumulate(weights)))

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in a random order."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return up to `count` different items, in random order."""
        pool = list(items)
        count = min(count, len(pool))
        for place in range(count):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]
