"""RAGEN-2's filter: groups whose rewards hardly differ are left out of the update."""

from __future__ import annotations

import torch

from trainers.credit.advantages import groups_that_vary


def keep_by_variance(rewards: torch.Tensor, group_size: int, *, share: float) -> torch.Tensor:
    """Return which episodes are of groups that hold most of the variance: arXiv 2604.06268.

    Groups are ranked by the standard deviation of their rewards, which is what the authors' code
    means by "reward variance", and the fewest first ones are kept whose deviations add up to
    `share` of the sum over all groups. Deviation: without its tolerance of 0.01 in that sum.

    Args:
        rewards: (N,); each `group_size` consecutive ones are a group, NaN where one does not count.
        group_size: episodes per group.
        share: in 0..1, the paper's rho; 1 leaves out groups whose rewards do not vary alone.

    Returns:
        (N,) bool.
    """
    grouped = rewards.double().view(-1, group_size)
    centred = grouped - grouped.nanmean(dim=1, keepdim=True)
    others = (~grouped.isnan()).sum(dim=1) - 1
    deviation = ((centred**2).nansum(dim=1) / others.clamp(min=1)).sqrt()
    deviation *= groups_that_vary(rewards, group_size)[::group_size]
    ranked, order = deviation.sort(descending=True, stable=True)
    before = ranked.cumsum(dim=0) - ranked  # what the groups in front of each one hold
    # Sums of floats: a group that would only add what rounding has lost is not needed.
    is_needed = (ranked > 0) & (before < share * deviation.sum() * (1 - 1e-12))
    kept = torch.zeros_like(is_needed)
    kept[order] = is_needed
    return kept.repeat_interleave(group_size)
