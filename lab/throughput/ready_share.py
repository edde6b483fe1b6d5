"""Simulates when to query a policy while environments are busy. `python -m` prints it.

Compares the rules of `trainers.rollout.overlap` by an event simulation: a generation call for n
episodes takes a fixed part and a part per row, a turn of an environment a log-normal delay. One
time unit is a call for all episodes.
"""

from __future__ import annotations

import heapq
import itertools
import math
import statistics
import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.cli.listing import table

SHARES = (1.0, 0.75, 0.5, 0.25, 0.1, 0.0)
"""Shares of the episodes under way that must be ready, from 1 (lockstep) to 0 (one will do)."""

FIXED_PARTS = (0.9, 0.5, 0.1)
SPREADS = (0.5, 1.0, 1.5, 2.0)
MEANS = (0.2, 1.0, 5.0)


def simulate(
    share: float, *, fixed: float, mean: float, spread: float, seed: int, episodes: int = 64
) -> float:
    """Return how long a batch of episodes takes.

    Args:
        share: of the episodes under way that must be ready for a call.
        fixed: the part of a full call's time that does not depend on its rows.
        mean: of the delays, in full calls.
        spread: standard deviation of the delays' logarithm.
        seed: of the delays and of the episodes' lengths, 2 to 18 turns.
        episodes: how many; each has its slot.
    """
    rng = np.random.default_rng(seed)
    turns_left = rng.integers(2, 19, size=episodes).tolist()

    def answer_at(now: float) -> float:
        return now + mean * math.exp(rng.normal(-(spread**2) / 2, spread))

    now, ready = 0.0, list[int]()
    at_work = [(answer_at(now), episode) for episode in range(episodes)]
    heapq.heapify(at_work)
    while at_work or ready:
        while at_work and at_work[0][0] <= now:
            episode = heapq.heappop(at_work)[1]
            if turns_left[episode]:
                ready.append(episode)
        if ready and len(ready) >= share * (len(ready) + len(at_work)):
            now += fixed + (1 - fixed) * len(ready) / episodes
            for episode in ready:
                turns_left[episode] -= 1
                heapq.heappush(at_work, (answer_at(now), episode))
            ready = []
        elif at_work:
            now = max(now, at_work[0][0])
    return now


def speeds(*, fixed: float, mean: float, spread: float, seeds: Sequence[int]) -> list[float]:
    """Return how many times faster than in lockstep the batch is played, for each of `SHARES`."""
    times = [
        statistics.fmean(
            simulate(share, fixed=fixed, mean=mean, spread=spread, seed=seed) for seed in seeds
        )
        for share in SHARES
    ]
    return [times[0] / seconds for seconds in times]


def main() -> int:
    """Print the table."""
    rows = [("fixed part", "spread", "mean delay", *(f"share {share:g}" for share in SHARES))]
    for fixed, spread, mean in itertools.product(FIXED_PARTS, SPREADS, MEANS):
        gains = speeds(fixed=fixed, mean=mean, spread=spread, seeds=range(8))
        rows.append((f"{fixed:g}", f"{spread:g}", f"{mean:g}", *(f"{gain:.2f}" for gain in gains)))
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
