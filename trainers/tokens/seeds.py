"""Seeds for batches of episodes, so that no batch's random numbers depend on another's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np


def batch_seed(seed: int, stream: Sequence[int]) -> int:
    """Return a seed in 0..2**63-1 that depends on the run's seed and the batch's name.

    Args:
        seed: the run's seed.
        stream: numbers that name the batch, such as its purpose and optimizer step.
    """
    state = np.random.SeedSequence([seed, *stream]).generate_state(1, np.uint64)[0]
    return int(state >> np.uint64(1))


class TurnSeeds:
    """Seeds for engines that sample every request with random numbers of its own.

    Args:
        seed: of the whole batch of episodes.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._turns: Counter[int] = Counter()

    def next(self, keys: Sequence[int]) -> list[int]:
        """Return the seeds, in 0..2**63-1, of the next turn of the named rows."""
        self._turns.update(keys)
        return [batch_seed(self._seed, (key, self._turns[key])) for key in keys]

    def forget(self, keys: Sequence[int]) -> None:
        """Forget rows. One that comes back under its name starts over."""
        for key in keys:
            self._turns.pop(key, None)
