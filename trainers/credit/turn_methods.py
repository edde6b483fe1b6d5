"""Methods that credit an episode's turns, each a pure function with its paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import exp
from statistics import fmean

import torch

from trainers.credit.advantages import anchor_state_advantages, members
from trainers.credit.gae import gae
from trainers.credit.turns import TurnBatch

CLARITY = 0.05
"""EMPG's zeta, the weight of the bonus for a sure next turn."""


def gigpo(turns: TurnBatch, *, discount: float, scale: str) -> list[float]:
    """Return A(t) = (R_t - mean over the turns in t's state) / F_norm: arXiv 2505.10978, eq. 7.

    Args:
        turns: M turns.
        discount: of the rewards of later turns, in the return R_t.
        scale: as `scale_rewards`, what F_norm is.

    Returns:
        (M,), 0 for a turn whose state was met once.
    """
    return anchor_state_advantages(
        turns.returns(discount), turns.states, scale_sets=turns.scale_sets(scale, turns.states)
    )


def hgpo(turns: TurnBatch, *, discount: float, scale: str, context: int) -> list[float]:
    """Return A_t = sum_k w_k A_k(t) / sum_k w_k, w_k = k + 2: arXiv 2602.22817, alpha 1.

    A_k(t) compares the return of turn t with those of the group's turns whose last k + 1 states are
    the same, k = 0..K: the longer the common history, the smaller the bias and the fewer the turns.
    As in the authors' code (verl-agent, recipe/hgpo), the sums are over the levels that a turn has,
    those whose A_k is not 0; the deviation is the population's, over n; a turn that has fewer than
    k earlier states is in no A_k; and the weights begin at 2, since 1 is that of the episode's own
    advantage, which their runs leave out.

    Args:
        turns: M turns.
        discount: of the rewards of later turns.
        scale: as `scale_rewards`, what A_k is divided by.
        context: K, the states before the present one that are looked at.

    Returns:
        (M,); 0 for a turn that differs from none that it is compared with.
    """
    returns = turns.returns(discount)
    total, weights = [0.0] * len(returns), [0.0] * len(returns)
    for k in range(context + 1):
        # A turn without so long a history has a name of its own: it is compared with none.
        histories: list[Hashable] = [
            tuple(turns.states[index] for index in episode[n - k : n + 1]) if n >= k else index
            for episode in turns.by_episode()
            for n, index in enumerate(episode)
        ]
        level = anchor_state_advantages(
            returns, histories, scale_sets=turns.scale_sets(scale, histories), correction=0
        )
        for index, value in enumerate(level):
            if value:
                total[index] += (k + 2) * value
                weights[index] += k + 2
    return [value / (weight or 1.0) for value, weight in zip(total, weights, strict=True)]


def gagpo(
    turns: TurnBatch,
    *,
    discount: float,
    scale: str,
    lam: float,
    episode_advantages: Sequence[float],
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
        episode_advantages: (M,) the advantage of each turn's episode.
    """
    returns = turns.returns(discount)
    values = [0.0] * len(returns)
    for indices in members(turns.states):
        mean = fmean(returns[index] for index in indices)
        for index in indices:
            values[index] = mean
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
        for value, state, fallback in zip(normalized, turns.states, episode_advantages, strict=True)
    ]


def _estimates(
    turns: TurnBatch, values: Sequence[float], *, discount: float, lam: float
) -> list[float]:
    """Return (M,) GAE over the turns of each episode."""
    by_episode = turns.by_episode()
    shape = (len(by_episode), max(map(len, by_episode), default=1))
    rewards, value_table = (torch.zeros(shape, dtype=torch.float64) for _ in range(2))
    valid = torch.zeros(shape, dtype=torch.bool)
    for row, indices in enumerate(by_episode):
        for table, per_turn in ((rewards, turns.rewards), (value_table, values)):
            own = [per_turn[index] for index in indices]
            table[row, : len(indices)] = torch.tensor(own, dtype=table.dtype)
        valid[row, : len(indices)] = True
    estimates: list[float] = gae(rewards, value_table, valid, gamma=discount, lam=lam)[
        valid
    ].tolist()
    return estimates


def empg(turns: TurnBatch, *, episode_advantages: Sequence[float]) -> list[float]:
    """Return A_t = A g(H_t) + zeta f(H_(t+1)), less its mean over the batch: arXiv 2509.09265.

    H is a turn's entropy, brought to 0..1 by the least and the largest of the batch. f(H) =
    exp(-H), with k = k' = 1 of the paper, and g(H) is f(H) over its mean over the batch. The last
    turn of an episode has no next one, and no bonus. The bonus is there where all rewards are
    alike, too.

    Args:
        turns: M turns; their `measures` are the mean entropies of their tokens, in nats.
        episode_advantages: (M,) the advantage A of each turn's episode.
    """
    if not turns.measures:
        return []
    least, largest = min(turns.measures), max(turns.measures)
    spread = (largest - least) or 1.0
    sureness = [exp(-(entropy - least) / spread) for entropy in turns.measures]
    mean = fmean(sureness)
    credited = [
        advantage * sure / mean
        for advantage, sure in zip(episode_advantages, sureness, strict=True)
    ]
    for indices in turns.by_episode():
        for index, following in zip(indices, indices[1:], strict=False):
            credited[index] += CLARITY * sureness[following]
    centre = fmean(credited)
    return [value - centre for value in credited]


def turn_returns(turns: TurnBatch, *, discount: float, scale: str) -> list[float]:
    """Return A_t = (R_t - mean over the group at turn t) / deviation: after arXiv 2505.11821.

    R_t is the discounted sum of the rewards from turn t on, for environments that pay along the
    way. Deviation: MT-GRPO normalizes the reward of turn t and that of the outcome apart and adds
    them up; here the outcome is the last turn's reward, so R_t holds both.

    Args:
        turns: M turns.
        discount: of the rewards of later turns.
        scale: as `scale_rewards`, over what the deviation is taken.

    Returns:
        (M,), 0 where no other episode of the group came as far.
    """
    compared = list(zip(turns.groups, turns.numbers, strict=True))
    return anchor_state_advantages(
        turns.returns(discount), compared, scale_sets=turns.scale_sets(scale, compared)
    )


def pays_along_the_way(turns: TurnBatch) -> bool:
    """Return whether any turn but an episode's last has a reward."""
    return any(turns.rewards[index] for indices in turns.by_episode() for index in indices[:-1])


def information_gain(turns: TurnBatch, *, discount: float, scale: str) -> list[float]:
    """Return A_t = sum over k >= t of gamma^(k-t) r~_k: arXiv 2510.14967v1.

    r_t = p_(t+1) - p_t, where p_t is the policy's probability of the right answer, the geometric
    mean over its tokens, behind all that turn t has read; the last turn has the outcome instead.
    r~ is r normalized over all turns of the group. Deviation: the environment's reward of an
    earlier turn is added to its gain.

    Args:
        turns: M turns; their `measures` are the probabilities p_t.
        discount: gamma, per turn.
        scale: as `scale_rewards`, over what the deviation is taken.
    """
    rewards = list(turns.rewards)
    for indices in turns.by_episode():
        for index, following in zip(indices, indices[1:], strict=False):
            rewards[index] += turns.measures[following] - turns.measures[index]
    normalized = anchor_state_advantages(
        rewards,
        turns.groups,
        scale_sets=turns.scale_sets(scale, turns.groups),
        size=max(map(abs, (*turns.rewards, *turns.measures)), default=0.0),
    )
    return replace(turns, rewards=normalized).returns(discount)


def shared_turn_advantages(
    episode_advantages: Sequence[float],
    turns: Sequence[Sequence[Hashable]],
    counted: Sequence[bool],
    *,
    group_size: int,
) -> list[list[float]]:
    """Return each turn's advantage, after ARPO's hard estimate (arXiv 2507.19849, section 3.2).

    A turn that d of a group's n episodes share has A = (n - 1) / (n - d) * (1 / d) sum_i A_i in
    each of them, with A_i = (r_i - mean(r)) / std(r) of the group. Deviation: ARPO has no first
    factor. The mean of the group holds the d rewards that are compared with it, so without the
    factor a turn's expected gradient is (n - d) / (n - 1) of that of a turn in one episode: a half
    with two roots, and 0 where all share the turn. With it, r is compared with the mean of those
    that do not share the turn, as in RLOO, and all turns weigh alike.

    Args:
        episode_advantages: (E,) group-relative advantages A_i.
        turns: for each episode what names its turns; a shared one has one name in all that hold it.
        counted: (E,) whether the episode has a reward; the others enter no mean.
        group_size: episodes per group; the groups follow one another.

    Returns:
        for each episode an advantage per turn, 0 where all of a group share it; none for those
        that do not count.
    """
    holders: dict[Hashable, list[float]] = {}
    for advantage, names, counts in zip(episode_advantages, turns, counted, strict=True):
        for name in names if counts else ():
            holders.setdefault(name, []).append(advantage)
    shared: list[list[float]] = []
    for index, (names, counts) in enumerate(zip(turns, counted, strict=True)):
        first = index - index % group_size
        num = sum(counted[first : first + group_size])
        shared.append([_credit(holders[name], num) for name in names] if counts else [])
    return shared


def _credit(advantages: Sequence[float], num_counted: int) -> float:
    """Return a turn's advantage from its holders' advantages, among a group's counted episodes."""
    num_others = num_counted - len(advantages)
    return fmean(advantages) * (num_counted - 1) / num_others if num_others else 0.0
