"""Seeds for batches of episodes, so that no batch's random numbers depend on another's."""

from __future__ import annotations

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
