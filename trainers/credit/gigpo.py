"""GiGPO's step-level advantages: turns that a group played in the same state are compared."""

from __future__ import annotations

from trainers.credit.advantages import anchor_state_advantages
from trainers.credit.turns import TurnBatch


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
