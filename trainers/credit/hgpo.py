"""HGPO: turns are compared with those of the same recent history, of several lengths at once."""

from __future__ import annotations

from collections.abc import Hashable

from trainers.credit.advantages import anchor_state_advantages
from trainers.credit.turns import TurnBatch


def hgpo(
    turns: TurnBatch, *, discount: float, scale: str, context: int, alpha: float = 1.0
) -> list[float]:
    """Return A_t = sum_k w_k A_k(t) / sum_k w_k, w_k = (k + 2)^alpha: arXiv 2602.22817.

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
        alpha: how much more the longer histories weigh.

    Returns:
        (M,); 0 for a turn that differs from none that it is compared with.
    """
    returns = turns.returns(discount)
    total, weights = [0.0] * len(returns), [0.0] * len(returns)
    for k in range(context + 1):
        # A turn without so long a history has a name of its own: it is compared with none.
        histories: list[Hashable] = [
            tuple(turns.states[place] for place in of_episode[n - k : n + 1]) if n >= k else place
            for of_episode in turns.by_episode()
            for n, place in enumerate(of_episode)
        ]
        level = anchor_state_advantages(
            returns, histories, scale_sets=turns.scale_sets(scale, histories), correction=0
        )
        for place, value in enumerate(level):
            if value:
                total[place] += (k + 2) ** alpha * value
                weights[place] += (k + 2) ** alpha
    return [value / (weight or 1.0) for value, weight in zip(total, weights, strict=True)]
