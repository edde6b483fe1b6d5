"""Rewards of episodes: columns of reward functions, our own functions, and metrics.

An episode counts if it did not fail and its rewards are finite, the environment's and those of
the reward functions. All others are in no baseline, no loss and no success rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.metrics import METRICS

RewardFunc = Callable[..., list[float | None]]

_COUNTS = ("episodes/failed", "episodes/failed_share", "episodes/without_reward")
"""Metrics that are of all episodes together."""
TRUNCATION_CAUSES = ("horizon", "max_turns", "env_limit", "time_limit", "token_budget")


def reward_columns(trajectories: Sequence[Trajectory]) -> dict[str, list[Any]]:
    """Return the columns of reward functions, with one entry per episode.

    `trajectories` holds the episodes themselves: task, turns, the conversation as `messages()`, the
    last `info`. The other columns sum them up, as `episode_columns` does.
    """
    return {"trajectories": list(trajectories), **episode_columns(trajectories)}


def episode_columns(trajectories: Sequence[Trajectory]) -> dict[str, list[Any]]:
    """Return the columns of numbers and words alone, for `episode_metrics`."""
    return {
        "status": [t.status for t in trajectories],
        "episode_return": [t.episode_return for t in trajectories],
        "success": [t.success for t in trajectories],
        "score": [t.score for t in trajectories],
        "truncated_by": [t.truncated_by for t in trajectories],
        "num_turns": [len(t.turns) for t in trajectories],
        "num_invalid": [sum(not turn.is_valid_action for turn in t.turns) for t in trajectories],
        "num_cut": [sum(turn.is_cut for turn in t.turns) for t in trajectories],
        "num_sampled": [sum(turn.num_tokens for turn in t.turns) for t in trajectories],
    }


def agent_reward(
    *, episode_return: list[float], status: list[str], **_columns: Any
) -> list[float | None]:
    """Return the episodes' returns, as a TRL reward function.

    Failed episodes and those without a finite return have None, which TRL leaves out of the
    group's mean and deviation.
    """
    return [
        reward if has_reward(how, reward) else None
        for how, reward in zip(status, episode_return, strict=True)
    ]


def has_reward(status: str, reward: float) -> bool:
    """Return whether an episode counts, by its status and its reward."""
    return status != "failed" and isfinite(reward)


def invalid_action_penalty(penalty: float) -> RewardFunc:
    """Return a TRL reward function that charges `penalty` for each invalid action."""

    def invalid_actions(*, num_invalid: list[int], **_columns: Any) -> list[float | None]:
        return [-penalty * count for count in num_invalid]

    return invalid_actions


def rewards_by_turn(
    trajectories: Sequence[Trajectory],
    totals: Sequence[float],
    *,
    environment_weight: float,
    invalid_penalty: float,
) -> list[list[float]]:
    """Return each turn's reward. The last turn gets the rest of its episode's reward.

    Args:
        trajectories: E episodes.
        totals: (E,) each episode's reward.
        environment_weight: of the environment's reward of a turn; 0 if reward functions reward the
            episode as a whole.
        invalid_penalty: subtracted from the reward of an invalid action.
    """
    rewards = []
    for trajectory, total in zip(trajectories, totals, strict=True):
        turns = [
            environment_weight * turn.reward - invalid_penalty * (not turn.is_valid_action)
            for turn in trajectory.turns
        ]
        if turns and environment_weight == 0.0:
            turns[-1] += total - sum(turns)
        rewards.append(turns)
    return rewards


def episode_metrics(
    *,
    status: Sequence[str],
    rewards: Sequence[float],
    success: Sequence[bool],
    score: Sequence[float],
    truncated_by: Sequence[str | None],
    num_turns: Sequence[int],
    num_invalid: Sequence[int],
    num_cut: Sequence[int],
    num_sampled: Sequence[int],
    **_others: Any,
) -> dict[str, float]:
    """Summarize a batch of episodes, by their rewards and `episode_columns`.

    Failed episodes and those without a finite reward are counted and left out of everything else.
    """
    pairs = zip(status, rewards, strict=True)
    counted = [index for index, (how, reward) in enumerate(pairs) if has_reward(how, reward)]
    num_failed = sum(how == "failed" for how in status)
    metrics = {
        "episodes/failed": float(num_failed),
        "episodes/failed_share": num_failed / max(len(status), 1),
        "episodes/without_reward": float(len(status) - num_failed - len(counted)),
    }
    if not counted:
        return metrics

    def mean(values: Sequence[Any]) -> float:
        return sum(float(values[index]) for index in counted) / len(counted)

    turns = sum(num_turns[index] for index in counted)
    metrics["episodes/success"] = mean(success)
    metrics["episodes/score"] = mean(score)
    metrics["episodes/turns"] = mean(num_turns)
    metrics["episodes/sampled_tokens"] = mean(num_sampled)
    metrics["episodes/invalid_actions"] = sum(num_invalid[i] for i in counted) / max(turns, 1)
    metrics["episodes/cut_turns"] = sum(num_cut[i] for i in counted) / max(turns, 1)
    for cause in TRUNCATION_CAUSES:
        metrics[f"truncated/{cause}"] = mean([by == cause for by in truncated_by])
    return metrics


def zero_std_group_fraction(rewards: Sequence[float], groups: Sequence[int]) -> float:
    """Return the share of groups whose episodes all have the same reward and teach nothing.

    Args:
        rewards: of each episode; NaN for those that do not count.
        groups: the number of each episode's group.
    """
    values: dict[int, set[float]] = {group: set() for group in groups}
    for group, reward in zip(groups, rewards, strict=True):
        values[group] |= {reward} if reward == reward else set()
    return sum(len(distinct) < 2 for distinct in values.values()) / max(len(values), 1)


def metrics_by_environment(
    names: Sequence[str],
    *,
    rewards: Sequence[float],
    columns: Mapping[str, Sequence[Any]],
    groups: Sequence[int],
    environments: Sequence[str] = (),
) -> dict[str, float]:
    """Summarize a batch of episodes by environment.

    Means are over environments: pooled, the one with the most episodes would speak for all.

    Args:
        names: the environment of each episode; empty strings for a single environment.
        rewards: of each episode; NaN where it does not count.
        columns: `episode_columns`.
        groups: the number of each episode's group; groups of one each are none.
        environments: the names of all; the share of one without an episode is 0.

    Returns:
        `episode_metrics`, and `frac_reward_zero_std` if there are
        groups. With several environments, means are means over those of the batch. `reward` is
        added, and each environment's metrics under their name `each` of the table, such as
        `share/TextCraft`, its share of the episodes.
    """
    metrics = _metrics(range(len(names)), rewards, columns, groups)
    present = sorted(set(names))
    if present in ([], [""]):
        return metrics
    own = {}
    for name in present:
        indices = [index for index, other in enumerate(names) if other == name]
        own[name] = _metrics(indices, rewards, columns, groups)
        own[name]["share"] = len(indices) / len(names)
        own_rewards = [rewards[index] for index in indices if rewards[index] == rewards[index]]
        if own_rewards:
            own[name]["reward"] = fmean(own_rewards)
    for key in ["reward", *metrics]:
        values = [own_metrics[key] for own_metrics in own.values() if key in own_metrics]
        if values and key not in _COUNTS and key != "frac_reward_zero_std":
            metrics[key] = fmean(values)
    metrics |= {f"share/{name}": 0.0 for name in environments}
    for name, own_metrics in own.items():
        for metric in METRICS:
            if metric.each and metric.key in own_metrics:
                metrics[f"{metric.each}/{name}"] = own_metrics[metric.key]
    return metrics


def _metrics(
    indices: Sequence[int],
    rewards: Sequence[float],
    columns: Mapping[str, Sequence[Any]],
    groups: Sequence[int],
) -> dict[str, float]:
    own_rewards = [rewards[index] for index in indices]
    chosen = {name: [values[index] for index in indices] for name, values in columns.items()}
    metrics = episode_metrics(rewards=own_rewards, **chosen)
    own_groups = [groups[index] for index in indices]
    if len(set(own_groups)) < len(own_groups):
        metrics["frac_reward_zero_std"] = zero_std_group_fraction(own_rewards, own_groups)
    return metrics
