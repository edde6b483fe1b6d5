"""Returns of turns: each compared with those of the group's turns of the same number."""

from __future__ import annotations

from trainers.credit.advantages import anchor_state_advantages
from trainers.credit.turns import TurnBatch


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
    """Return whether any turn but the last of an episode was paid."""
    return any(turns.rewards[place] for places in turns.by_episode() for place in places[:-1])
