"""The dice of the worlds: the environments', with the draws that made-up content asks for."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

from agentgym_envs.content import dice
from agentgym_envs.content.dice import stable_number

__all__ = ["Dice", "stable_number"]

Item = TypeVar("Item")


class Dice(dice.Dice):
    """Draws from a stream that a key fixes, as `agentgym_envs.content.dice.Dice`."""

    def uniform(self, low: float, high: float) -> float:
        """Return a number from low up to high."""
        return low + (high - low) * self.random()

    def tail(self, mean: float) -> float:
        """Return a number from an exponential distribution."""
        return -mean * math.log(1.0 - self.random())

    def early(self, items: Sequence[Item]) -> Item:
        """Return one of the items, the first ones far more often than the last ones."""
        return items[int(self.random() ** 2.2 * len(items))]

    def weighted(self, items: Sequence[Item], cumulative: Sequence[float]) -> Item:
        """Return one of the items by weight.

        `cumulative` holds the weights' running sums.
        """
        place = bisect.bisect(cumulative, self.random() * cumulative[-1], hi=len(items) - 1)
        return items[place]

    def by_weight(self, items: Sequence[Item], weights: Sequence[float]) -> Item:
        """Return one of the items, each as often as its weight says."""
        return self.weighted(items, list(accumulate(weights)))
