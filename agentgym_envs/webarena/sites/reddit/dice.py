"""Draws for the forum's content, fast enough for some hundred thousand of them."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

_BLOCK = 8192


class Dice:
    """Draws from a generator, in blocks.

    Args:
        rng: the only source of chance.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._stream = _uniforms(rng)

    def share(self) -> float:
        """Draw from 0 up to, but not including, 1."""
        return next(self._stream)

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return next(self._stream) < probability

    def number(self, low: int, high: int) -> int:
        """Draw a whole number between these two, both included."""
        return low + int(next(self._stream) * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """Draw one of the items."""
        return items[int(next(self._stream) * len(items))]

    def some(self, items: Sequence[T], number: int) -> list[T]:
        """Draw several different items."""
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(min(number, len(left)))]

    def heavy(self, items: Sequence[T], cumulated: Sequence[float]) -> T:
        """Draw an item by weight; `cumulated` holds the running sums of the weights."""
        return items[bisect.bisect(cumulated, next(self._stream) * cumulated[-1])]

    def tail(self, mean: float) -> float:
        """Draw from an exponential distribution."""
        return -mean * math.log(1.0 - next(self._stream))


def _uniforms(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(_BLOCK).tolist()
