"""RAGEN-2's filter: groups whose rewards hardly differ are left out of the update."""

from __future__ import annotations

import torch


def keep_by_variance(rewards: torch.Tensor, group_size: int, *, share: float) -> torch.Tensor:
    """Return which episodes are of groups that hold most of the variance: arXiv 2604.06268.

    Groups are ranked by the variance of their rewards, and the fewest first ones are kept whose
    variances add up to `share` of the sum over all groups.

    Args:
        rewards: (N,); each `group_size` consecutive ones are a group, NaN where one does not count.
        group_size: episodes per group.
        share: in 0..1, the paper's rho; 1 leaves out groups without variance alone.

    Returns:
        (N,) bool.
    """
    grouped = rewards.double().view(-1, group_size)
    centred = grouped - grouped.nanmean(dim=1, keepdim=True)
    counted = (~grouped.isnan()).sum(dim=1)
    variance = (centred**2).nansum(dim=1) / counted.clamp(min=1)
    ranked, order = variance.sort(descending=True, stable=True)
    before = ranked.cumsum(dim=0) - ranked  # what the groups in front of each one hold
    # Sums of floats: a group that would only add what rounding has lost is not needed.
    is_needed = (ranked > 0) & (before < share * variance.sum() * (1 - 1e-12))
    kept = torch.zeros_like(is_needed)
    kept[order] = is_needed
    return kept.repeat_interleave(group_size)
