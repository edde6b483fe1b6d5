"""Dice that roll the same on every machine, under every version of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Draws from a stream that a key of strings and numbers fixes.

    Only `Random(int).random()` is used, whose stream Python promises to keep.

    Args:
        *key: names the stream.
    """

    def __init__(self, *key: object) -> None:
        digest = sha256("/".join(map(str, key)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big")).random

    def below(self, count: int) -> int:
        """Return one of 0 .. count - 1."""
        return int(self._random() * count)

    def between(self, low: int, high: int) -> int:
        """Return one of low .. high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return up to `count` different items, in random order."""
        pool = list(items)
        count = min(count, len(pool))
        for place in range(count):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in a random order."""
        return self.sample(items, len(items))
