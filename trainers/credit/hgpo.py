"""HGPO: turns are compared with those of the same recent history, of several lengths at once."""

from __future__ import annotations

from trainers.credit.advantages import anchor_state_advantages
from trainers.credit.turns import TurnBatch


def hgpo(
    turns: TurnBatch, *, discount: float, scale: str, context: int, alpha: float = 1.0
) -> list[float]:
    """Return A_t = sum_k w_k A_k(t), w_k = (k + 1)^alpha / sum_j (j + 1)^alpha: arXiv 2602.22817.

    A_k(t) compares the return of turn t with those of the group's turns whose last k + 1 states are
    the same, k = 0..K: the longer the common history, the smaller the bias and the fewer the turns.
    A turn near its episode's start has a shorter history, which only an equally short one equals.
    The episode's own advantage is left out, as in the published runs.

    Args:
        turns: M turns.
        discount: of the rewards of later turns.
        scale: as `scale_rewards`, what A_k is divided by.
        context: K, the states before the present one that are looked at.
        alpha: how much more the longer histories weigh.

    Returns:
        (M,); a length of history that no other turn shares adds 0.
    """
    returns = turns.returns(discount)
    weights = [(k + 1) ** alpha for k in range(context + 1)]
    total = [0.0] * len(returns)
    for k, weight in enumerate(weights):
        histories = [
            tuple(turns.states[place] for place in of_episode[max(n - k, 0) : n + 1])
            for of_episode in turns.by_episode()
            for n in range(len(of_episode))
        ]
        level = anchor_state_advantages(
            returns, histories, scale_sets=turns.scale_sets(scale, histories)
        )
        total = [
            so_far + weight / sum(weights) * value
            for so_far, value in zip(total, level, strict=True)
        ]
    return total
