"""EMPG: an episode's advantage, weighed by how sure the policy was of each turn."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from statistics import fmean

from trainers.credit.turns import TurnBatch

CLARITY = 0.05
"""The paper's zeta, the weight of the bonus for a sure next turn."""


def empg(
    turns: TurnBatch,
    *,
    of_episode: Sequence[float],
    sharpness: float = 1.0,
    clarity: float = CLARITY,
) -> list[float]:
    """Return A_t = A g(H_t) + zeta f(H_(t+1)), less its mean over the batch: arXiv 2509.09265.

    H is a turn's entropy, brought to 0..1 by the least and the largest of the batch. f(H) =
    exp(-k H), and g(H) is f(H) over its mean over the batch; k is `sharpness`. The last turn of an
    episode has no next one, and no bonus. The bonus is there where all rewards are alike, too.

    Args:
        turns: M turns; their `measures` are the mean entropies of their tokens, in nats.
        of_episode: (M,) the advantage A of each turn's episode.
        sharpness: the paper's k and k'.
        clarity: the paper's zeta.
    """
    if not turns.measures:
        return []
    least, largest = min(turns.measures), max(turns.measures)
    spread = (largest - least) or 1.0
    sureness = [exp(-sharpness * (entropy - least) / spread) for entropy in turns.measures]
    mean = fmean(sureness)
    credited = [
        advantage * sure / mean for advantage, sure in zip(of_episode, sureness, strict=True)
    ]
    for places in turns.by_episode():
        for place, following in zip(places, places[1:], strict=False):
            credited[place] += clarity * sureness[following]
    centre = fmean(credited)
    return [value - centre for value in credited]
