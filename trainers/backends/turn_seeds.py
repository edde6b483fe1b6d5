"""One seed for each turn of each row, whatever rows are sampled together. Knows numbers only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from trainers.seeds import batch_seed


class TurnSeeds:
    """Seeds for engines that sample every request with random numbers of its own.

    Args:
        seed: of the whole batch of episodes.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._turns: Counter[int] = Counter()

    def next(self, keys: Sequence[int]) -> list[int]:
        """Return the seeds, in 0..2**63-1, of the next turn of the rows that are named."""
        self._turns.update(keys)
        return [batch_seed(self._seed, (key, self._turns[key])) for key in keys]

    def forget(self, keys: Sequence[int]) -> None:
        """Forget rows; one that comes back under its name begins anew."""
        for key in keys:
            self._turns.pop(key, None)
