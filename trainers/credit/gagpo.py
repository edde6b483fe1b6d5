"""GAGPO: GAE over turns whose values are means over the group, so that it needs no critic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

import torch

from trainers.credit.advantages import anchor_state_advantages, members
from trainers.credit.gae import gae
from trainers.credit.turns import TurnBatch


def gagpo(
    turns: TurnBatch,
    *,
    discount: float,
    scale: str,
    lam: float,
    of_episode: Sequence[float],
) -> list[float]:
    """Return GAE's A_t = delta_t + gamma lambda A_(t+1) by grouped values: arXiv 2605.13217.

    delta_t = r_t + gamma V(s_(t+1)) - V(s_t), where V(s) is the mean return of all turns that the
    group played in state s, and 0 after the last turn. The advantages are then normalized over all
    turns of the group. Deviations:
    1. Where a state was met once, V is the turn's own return and says nothing: the turn has the
       advantage of its episode.
    2. The policy's ratio is a token's, or what `importance_sampling_level` says; not a turn's.

    Args:
        turns: M turns.
        discount: gamma, per turn.
        scale: as `scale_rewards`, over what the deviation is taken.
        lam: GAE's lambda.
        of_episode: (M,) the advantage of each turn's episode.
    """
    returns = turns.returns(discount)
    values = [0.0] * len(returns)
    for places in members(turns.states):
        mean = fmean(returns[place] for place in places)
        for place in places:
            values[place] = mean
    estimates = _estimates(turns, values, discount=discount, lam=lam)
    normalized = anchor_state_advantages(
        estimates,
        turns.groups,
        scale_sets=turns.scale_sets(scale, turns.groups),
        size=max(map(abs, returns), default=0.0),
    )
    times_met = Counter(turns.states)
    return [
        value if times_met[state] > 1 else fallback
        for value, state, fallback in zip(normalized, turns.states, of_episode, strict=True)
    ]


def _estimates(
    turns: TurnBatch, values: Sequence[float], *, discount: float, lam: float
) -> list[float]:
    """Return (M,) GAE over the turns of each episode."""
    by_episode = turns.by_episode()
    shape = (len(by_episode), max(map(len, by_episode), default=1))
    rewards, known = (torch.zeros(shape, dtype=torch.float64) for _ in range(2))
    valid = torch.zeros(shape, dtype=torch.bool)
    for row, places in enumerate(by_episode):
        for table, of_turn in ((rewards, turns.rewards), (known, values)):
            own = [of_turn[place] for place in places]
            table[row, : len(places)] = torch.tensor(own, dtype=table.dtype)
        valid[row, : len(places)] = True
    estimates: list[float] = gae(rewards, known, valid, gamma=discount, lam=lam)[valid].tolist()
    return estimates
