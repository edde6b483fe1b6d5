"""Importance weights by loops over plain numbers, from the formulas of the papers."""

from __future__ import annotations

import math
from collections.abc import Sequence

TRLS = ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask")
OURS = ("turn_truncate", "turn_mask", "geometric_mask")
MODES = TRLS + OURS


def weights_by_hand(
    delta: Sequence[float],
    mask: Sequence[int],
    *,
    mode: str,
    low: float = 0.0,
    high: float = math.inf,
) -> list[float]:
    """Return the weight of each token of a row; 1 for those of the environment.

    Args:
        delta: trained less sampled log-probabilities.
        mask: 1 on sampled tokens.
        mode: one of `MODES`.
        low: the lower bound of the ratio.
        high: the upper bound.
    """
    sampled = [place for place, m in enumerate(mask) if m]
    if mode.startswith("token"):
        groups = [[place] for place in sampled]
    elif mode.startswith("turn"):
        groups = []
        for place in sampled:
            if place - 1 in sampled:
                groups[-1].append(place)
            else:
                groups.append([place])
    else:
        groups = [sampled] if sampled else []
    weights = [1.0] * len(mask)
    for group in groups:
        total = math.fsum(delta[place] for place in group)
        ratio = math.exp(total / len(group) if mode == "geometric_mask" else total)
        if mode.endswith("truncate"):
            weight = min(max(ratio, low), high)
        elif low <= ratio <= high:
            weight = 1.0 if mode == "geometric_mask" else ratio
        else:
            weight = 0.0
        for place in group:
            weights[place] = weight
    return weights
