"""IGPO: a turn is paid by how much likelier it made the right answer."""

from __future__ import annotations

from dataclasses import replace

from trainers.credit.advantages import anchor_state_advantages
from trainers.credit.turns import TurnBatch


def information_gain(turns: TurnBatch, *, discount: float, scale: str) -> list[float]:
    """Return A_t = sum over k >= t of gamma^(k-t) r~_k: arXiv 2510.14967v1.

    r_t = p_(t+1) - p_t, where p_t is the policy's probability of the right answer, the geometric
    mean over its tokens, behind all that turn t has read; the last turn has the outcome instead.
    r~ is r normalized over all turns of the group. Deviation: what the environment paid for an
    earlier turn is added to its gain.

    Args:
        turns: M turns; their `measures` are the probabilities p_t.
        discount: gamma, per turn.
        scale: as `scale_rewards`, over what the deviation is taken.
    """
    rewards = list(turns.rewards)
    for places in turns.by_episode():
        for place, following in zip(places, places[1:], strict=False):
            rewards[place] += turns.measures[following] - turns.measures[place]
    normalized = anchor_state_advantages(
        rewards,
        turns.groups,
        scale_sets=turns.scale_sets(scale, turns.groups),
        size=max(map(abs, (*turns.rewards, *turns.measures)), default=0.0),
    )
    return replace(turns, rewards=normalized).returns(discount)
