"""Dice that roll the same on every machine, under every version of Python and of NumPy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256
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
