"""Advantages of episodes, turns and tokens, as pure functions of tensors.

Everywhere NaN marks an episode that does not count, such as a failed one: it enters no mean, and
its own advantage is 0. Masks are 1 on the tokens that the policy sampled. A function that needs a
sum over all processes is given one that adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import torch

from trainers.credit.gae import SampledTokenIndex

EPSILON = 1e-6
"""Added to deviations that something is divided by."""
ROUNDING = 1e-6
"""Relative differences up to here are rounding.

Scaled to a deviation of 1 they would be a step.
"""

_TRL_EPSILON = 1e-4
"""TRL's addition to a deviation of rewards."""

ReduceSum = Callable[[torch.Tensor], torch.Tensor]


def episode_rewards(
    per_function: torch.Tensor,
    weights: torch.Tensor,
    counted: torch.Tensor,
    *,
    num_penalties: int = 0,
) -> torch.Tensor:
    """Return each episode's reward: the weighted sum over the reward functions.

    Args:
        per_function: (N, F), NaN where a function returned None.
        weights: (F,).
        counted: (N,) bool; other episodes have no reward.
        num_penalties: the last functions, which only subtract from the others' rewards.

    Returns:
        (N,), NaN where no function but a penalty gave a reward, or the sum is not finite.
    """
    total = (per_function * weights).nansum(dim=1)
    has_reward = ~per_function[:, : per_function.size(1) - num_penalties].isnan().all(dim=1)
    return total.masked_fill(~(counted & has_reward & total.isfinite()), torch.nan)


def groups_that_vary(rewards: torch.Tensor, group_size: int) -> torch.Tensor:
    """Return (N,) bool: whether an episode's group holds two rewards that differ.

    Others have nothing to teach. Their advantages are 0 by definition and not by computation: the
    mean of equal float32 numbers is not exactly theirs, and an optimizer such as AdamW would make
    a whole step of that noise.
    """
    grouped = rewards.view(-1, group_size)
    most = grouped.nan_to_num(nan=-torch.inf).amax(dim=1)
    least = grouped.nan_to_num(nan=torch.inf).amin(dim=1)
    size = grouped.nan_to_num(nan=0.0).abs().amax(dim=1)
    return (most - least > ROUNDING * size).repeat_interleave(group_size)


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


def subtract_group_mean(rewards: torch.Tensor, group_size: int) -> torch.Tensor:
    """Return each reward less its group's mean.

    Args:
        rewards: (N,); each `group_size` consecutive ones are a group.
        group_size: episodes per group.

    Returns:
        (N,), 0 for episodes that do not count.
    """
    grouped = rewards.view(-1, group_size)
    centred = (grouped - grouped.nanmean(dim=1, keepdim=True)).nan_to_num(nan=0.0)
    return centred.view(-1) * groups_that_vary(rewards, group_size)


def group_advantages(rewards: torch.Tensor, group_size: int, *, scale: str) -> torch.Tensor:
    """Return GRPO's advantages: (r - mean) / (deviation + 1e-4) (arXiv 2402.03300, eq. 3).

    Args:
        rewards: (N,); each `group_size` consecutive ones are a group.
        group_size: episodes per group.
        scale: the sample deviation that divides: `"group"`, `"batch"` or `"none"`.

    Returns:
        (N,), 0 for episodes that do not count, and for groups whose rewards are equal.
    """
    centred = subtract_group_mean(rewards, group_size)
    return divide_by_deviation(centred, rewards, group_size, scale=scale)


def divide_by_deviation(
    advantages: torch.Tensor, rewards: torch.Tensor, group_size: int, *, scale: str
) -> torch.Tensor:
    """Divide advantages by the sample deviation of rewards plus 1e-4, as TRL does.

    Args:
        advantages: (N,), such as rewards less their group's mean.
        rewards: (N,), NaN for episodes that do not count.
        group_size: episodes per group.
        scale: the deviation: `"group"`, `"batch"` or `"none"`.
    """
    if scale == "none":
        return advantages
    if scale == "batch":
        deviation = _nanstd(rewards)
    else:
        deviation = _nanstd(rewards.view(-1, group_size)).repeat_interleave(group_size)
    return (advantages / (deviation + _TRL_EPSILON)).nan_to_num(nan=0.0)


def expert_gains(rewards: torch.Tensor, is_expert: torch.Tensor, group_size: int) -> torch.Tensor:
    """Return by how much an expert's rewards exceed the mean of its group's other episodes.

    Args:
        rewards: (N,); each `group_size` consecutive ones are a group, NaN where one does not count.
        is_expert: (N,) bool, the expert's episodes.
        group_size: episodes per group.

    Returns:
        (N,), 0 for an expert that gains nothing, for all other episodes, and in groups in which
        none of them counts or all are rewarded alike.
    """
    others = rewards.masked_fill(is_expert, torch.nan).view(-1, group_size)
    gains = rewards.view(-1, group_size) - others.nanmean(dim=1, keepdim=True)
    gains = gains.view(-1).clamp(min=0.0).nan_to_num(nan=0.0)
    return gains * is_expert * groups_that_vary(rewards, group_size)


def normalized_sum(
    per_function: torch.Tensor, weights: torch.Tensor, group_size: int
) -> torch.Tensor:
    """Return the weighted sum of reward functions normalized in groups: GDPO (arXiv 2601.05242).

    Args:
        per_function: (N, F), NaN where a function gave no reward.
        weights: (F,).
        group_size: episodes per group.

    Returns:
        (N,), 0 for episodes that do not count, and for groups in which every function is constant.
    """
    grouped = per_function.view(-1, group_size, per_function.size(1))
    centred = grouped - grouped.nanmean(dim=1, keepdim=True)
    deviations = _nanstd(grouped.transpose(1, 2))[:, None]
    normalized = (centred / (deviations + _TRL_EPSILON)).view(per_function.shape)
    total = (normalized * weights).nansum(dim=1)
    total = total.masked_fill(per_function.isnan().all(dim=1), torch.nan)
    advantages = (total - total.nanmean()) / (_nanstd(total) + _TRL_EPSILON)
    varies = torch.stack([groups_that_vary(rewards, group_size) for rewards in per_function.T])
    return advantages.nan_to_num(nan=0.0) * varies.any(dim=0)


def _nanstd(values: torch.Tensor) -> torch.Tensor:
    """Return the sample deviation over the last dimension, without NaN."""
    variance = ((values - values.nanmean(dim=-1, keepdim=True)) ** 2).nanmean(dim=-1)
    count = (~values.isnan()).sum(dim=-1)
    correction = torch.where(count > 1, count / (count - 1), torch.nan)
    return (variance * correction).sqrt()


def leave_one_out(rewards: torch.Tensor, group_size: int) -> torch.Tensor:
    """Return each reward less the mean of its group's others: RLOO (arXiv 2402.14740, eq. 6).

    Args:
        rewards: (N,); each `group_size` consecutive ones are a group.
        group_size: episodes per group.

    Returns:
        (N,), 0 for episodes that do not count and for those whose group has no other.
    """
    grouped = rewards.view(-1, group_size)
    counted = ~grouped.isnan()
    others = counted.sum(dim=1, keepdim=True) - 1
    total = grouped.nansum(dim=1, keepdim=True)
    baseline = (total - grouped) / others.clamp(min=1)
    advantages = torch.where(counted & (others > 0), grouped - baseline, 0.0)
    return advantages.view(-1) * groups_that_vary(rewards, group_size)


def whiten(
    values: torch.Tensor, mask: torch.Tensor, *, reduce_sum: ReduceSum = lambda tensor: tensor
) -> torch.Tensor:
    """Shift and scale values to mean 0 and variance 1 over the tokens of all processes.

    Args:
        values: (R, T).
        mask: (R, T); tokens of mask 0 do not count, and become 0.
        reduce_sum: adds up a tensor over the processes.

    Returns:
        (R, T); all 0 where fewer than two tokens count, or where all are equal.
    """
    exact, mask = values.double(), mask.double()
    count, total = reduce_sum(torch.stack([mask.sum(), (exact * mask).sum()])).unbind()
    mean = total / count.clamp(min=1)
    squares = reduce_sum((((exact - mean) ** 2) * mask).sum())
    deviation = (squares / (count - 1)).sqrt()
    if count < 2 or deviation <= EPSILON * mean.abs():
        return torch.zeros_like(values)
    return ((exact - mean) * mask / (deviation + EPSILON)).to(values.dtype)


def whiten_by_environment(
    values: torch.Tensor,
    mask: torch.Tensor,
    environment: torch.Tensor,
    *,
    num_environments: int,
    reduce_sum: ReduceSum = lambda tensor: tensor,
) -> torch.Tensor:
    """Whiten the tokens of each environment by themselves, as `whiten` does.

    Args:
        values: (R, T).
        mask: (R, T); tokens of mask 0 do not count, and become 0.
        environment: (R,) int64, the number of each row's environment.
        num_environments: over all processes.
        reduce_sum: adds up a tensor over the processes.

    Returns:
        (R, T); 0 for an environment of which fewer than two tokens count.
    """
    whitened = torch.zeros_like(values)
    for number in range(num_environments):
        own = mask * (environment == number)[:, None]
        whitened += whiten(values, own, reduce_sum=reduce_sum)
    return whitened


def environments_that_vary(rewards: torch.Tensor, environment: torch.Tensor) -> torch.Tensor:
    """Return (N,) bool: whether an episode's environment holds two rewards that differ.

    Args:
        rewards: (N,); NaN for episodes that do not count.
        environment: (N,) int64, the number of each episode's environment.
    """
    varies = torch.zeros_like(rewards, dtype=torch.bool)
    for number in environment.unique():
        own = environment == number
        varies[own] = groups_that_vary(rewards[own], int(own.sum()))
    return varies


def scale_by_environment(
    advantages: torch.Tensor, rewards: torch.Tensor, environment: torch.Tensor
) -> torch.Tensor:
    """Divide advantages by the deviation of their environment's rewards: A_i / (s_e(i) + 1e-4).

    With one environment it is TRL's `scale_rewards="batch"`, which adds 1e-4 too.

    Args:
        advantages: (N,), such as rewards less their group's mean.
        rewards: (N,), NaN for episodes that do not count.
        environment: (N,) int64, the number of each episode's environment.

    Returns:
        (N,); s_e is the sample standard deviation, 0 where fewer than two episodes count.
    """
    scaled = torch.zeros_like(advantages)
    for number in environment.unique():
        own = environment == number
        counted = rewards[own & ~rewards.isnan()]
        deviation = counted.std() if len(counted) > 1 else counted.new_zeros(())
        scaled[own] = advantages[own] / (deviation + _TRL_EPSILON)
    return scaled


def divide_by_group_mean(
    advantages: torch.Tensor, rewards: torch.Tensor, group_size: int
) -> torch.Tensor:
    """Divide advantages by their group's mean reward: MaxRL (arXiv 2602.02710), A = (r - m) / m.

    With rewards of 0 and 1 the mean is the success rate p, so that a success weighs 1 / p: groups
    of hard tasks weigh more than under a deviation, sqrt(p (1 - p)). Deviation: the mean is that
    of |r|. It is the same for rewards of one sign, and where they have both, m comes near 0 and
    the mean of |r| does not: no advantage is beyond the group's size plus 1.

    Args:
        advantages: (N,), rewards less their group's mean.
        rewards: (N,), NaN for episodes that do not count.
        group_size: episodes per group.

    Returns:
        (N,), 0 for groups whose rewards are all 0.
    """
    mean = rewards.abs().view(-1, group_size).nanmean(dim=1).repeat_interleave(group_size)
    return torch.where(mean > 0, advantages / mean, 0.0)


def kl_penalized_returns(
    rewards: torch.Tensor, kl: torch.Tensor, time: SampledTokenIndex, *, beta: float
) -> torch.Tensor:
    """Return A_t = R - beta * sum of the KL from t on: REINFORCE++ (arXiv 2501.03262, eq. 8).

    The sum goes to the end of the episode, through all its token windows.

    Args:
        rewards: (E,) of each episode; NaN counts as 0.
        kl: (R, T), log-probability of the policy less that of the reference (k1).
        time: where the sampled tokens stand in their episodes.
        beta: the weight of the KL.

    Returns:
        (R, T), 0 on all that was not sampled.
    """
    to_go = time.gather(kl).flip(1).cumsum(dim=1).flip(1)  # (E, L)
    return time.scatter(rewards.nan_to_num(nan=0.0)[:, None] - beta * to_go)


def discounted_returns(rewards: Sequence[float], discount: float) -> list[float]:
    """Return R_t = r_t + discount * R_(t+1) for each turn of an episode."""
    returns: list[float] = []
    to_come = 0.0
    for reward in reversed(rewards):
        to_come = reward + discount * to_come
        returns.append(to_come)
    return returns[::-1]


def anchor_state_advantages(
    returns: Sequence[float],
    anchors: Sequence[Hashable],
    *,
    scale_sets: Sequence[Hashable] | None,
    correction: int = 1,
    size: float | None = None,
) -> list[float]:
    """Compare the returns of turns: the step-level advantage of GiGPO (arXiv 2505.10978, eq. 7).

    Args:
        returns: a return for each turn.
        anchors: what names the turns that are compared with each other, such as those that a group
            played in one state.
        scale_sets: what names the turns over whose returns the deviation is taken that divides
            (F_norm in the paper), such as `anchors`; None divides by 1.
        correction: 1 for the deviation of a sample, 0 for that of a population.
        size: of what the returns were computed from, of which smaller differences are rounding;
            the largest return's by default.

    Returns:
        each return less the mean of those it is compared with, over that deviation; 0 for a turn
        that is compared with no other.
    """
    values = torch.tensor(returns, dtype=torch.float64)
    least = ROUNDING * (max(map(abs, returns), default=0.0) if size is None else size)
    advantages = torch.zeros_like(values)
    for indices in members(anchors):
        centred = values[indices] - values[indices].mean()
        advantages[indices] = centred.masked_fill(centred.abs() <= least, 0.0)
    for indices in members(scale_sets or ()):
        if len(indices) > 1:
            advantages[indices] /= values[indices].std(correction=correction) + EPSILON
    return list(advantages.tolist())


def members(names: Sequence[Hashable]) -> list[list[int]]:
    """Return the indices of each name, in the order in which the names come first."""
    members: dict[Hashable, list[int]] = {}
    for index, name in enumerate(names):
        members.setdefault(name, []).append(index)
    return list(members.values())


def token_turns(action_mask: torch.Tensor, episode_of_row: torch.Tensor) -> torch.Tensor:
    """Return the turn that each sampled token belongs to.

    A turn is a run of sampled tokens, for between two turns there is always an observation. The
    rows of an episode follow one another.

    Args:
        action_mask: (R, T).
        episode_of_row: (R,) int64; -1 for fillers.

    Returns:
        (R, T) int64, the turn's place in its episode, -1 where the mask is 0.
    """
    mask = action_mask.bool()
    before = torch.nn.functional.pad(mask, (1, 0))[:, :-1]
    run = (mask & ~before).cumsum(dim=1) - 1  # (R, T)
    num_runs = run[:, -1] + 1 if run.size(1) else run.new_zeros(len(run))
    first = torch.zeros_like(num_runs)
    for row in range(1, len(num_runs)):
        if episode_of_row[row] == episode_of_row[row - 1] and episode_of_row[row] >= 0:
            first[row] = first[row - 1] + num_runs[row - 1]
    return torch.where(mask, run + first[:, None], -1)
