"""From episodes to rewards: what a reward function is told, ours, and the numbers that are logged.

Knows trajectories and lists of numbers; no tokens, no torch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from agentgym_envs.trajectory import Trajectory

RewardFunc = Callable[..., list[float | None]]

TRUNCATION_CAUSES = ("horizon", "max_turns", "env_limit", "token_budget")

OWN_METRICS = ("episodes/", "truncated/")
"""How names begin of what our trainers tell of the episodes of all processes."""


def reward_columns(trajectories: Sequence[Trajectory]) -> dict[str, list[Any]]:
    """Return what reward functions are given about each episode, one entry per episode."""
    return {
        "status": [t.status for t in trajectories],
        "episode_return": [t.episode_return for t in trajectories],
        "success": [t.success for t in trajectories],
        "score": [t.score for t in trajectories],
        "truncated_by": [t.truncated_by for t in trajectories],
        "num_turns": [len(t.turns) for t in trajectories],
        "num_invalid": [sum(not turn.is_valid_action for turn in t.turns) for t in trajectories],
        "num_sampled": [sum(turn.num_tokens for turn in t.turns) for t in trajectories],
    }


def agent_reward(
    *, episode_return: list[float], status: list[str], log_metric: Any = None, **columns: Any
) -> list[float | None]:
    """A TRL reward function: the episode's return; None for failed episodes.

    TRL leaves rows without a reward out of the group's mean and deviation. It also logs what the
    episodes were like.
    """
    if log_metric is not None:
        for name, value in episode_metrics(status=status, **columns).items():
            log_metric(name, value)
    return [
        None if how == "failed" else paid for how, paid in zip(status, episode_return, strict=True)
    ]


def invalid_action_penalty(penalty: float) -> RewardFunc:
    """Return a TRL reward function that takes `penalty` for each invalid action of an episode."""

    def invalid_actions(*, num_invalid: list[int], **_columns: Any) -> list[float | None]:
        return [-penalty * count for count in num_invalid]

    return invalid_actions


def episode_metrics(
    *,
    status: Sequence[str],
    success: Sequence[bool],
    score: Sequence[float],
    truncated_by: Sequence[str | None],
    num_turns: Sequence[int],
    num_invalid: Sequence[int],
    num_sampled: Sequence[int],
    **_others: Any,
) -> dict[str, float]:
    """Summarize a batch of episodes; failed ones are counted and left out of everything else."""
    played = [index for index, how in enumerate(status) if how != "failed"]
    num_failed = len(status) - len(played)
    metrics = {
        "episodes/failed": float(num_failed),
        "episodes/failed_share": num_failed / max(len(status), 1),
    }
    if not played:
        return metrics

    def mean(values: Sequence[Any]) -> float:
        return sum(float(values[index]) for index in played) / len(played)

    turns = sum(num_turns[index] for index in played)
    metrics["episodes/success"] = mean(success)
    metrics["episodes/score"] = mean(score)
    metrics["episodes/turns"] = mean(num_turns)
    metrics["episodes/sampled_tokens"] = mean(num_sampled)
    metrics["episodes/invalid_actions"] = sum(num_invalid[i] for i in played) / max(turns, 1)
    for cause in TRUNCATION_CAUSES:
        metrics[f"truncated/{cause}"] = mean([by == cause for by in truncated_by])
    return metrics


def zero_std_group_fraction(rewards: Sequence[float], group_size: int) -> float:
    """Return the share of groups whose episodes were all paid the same: they teach nothing.

    Args:
        rewards: of whole groups, one after the other; NaN for failed episodes, which do not count.
        group_size: episodes per task.
    """
    starts = range(0, len(rewards), group_size)
    paid = [{r for r in rewards[start : start + group_size] if r == r} for start in starts]
    return sum(len(values) < 2 for values in paid) / max(len(paid), 1)


def mask_failed_episodes(reward_func: RewardFunc) -> RewardFunc:
    """Wrap a reward function so that failed episodes get no reward, whatever it says."""

    @functools.wraps(reward_func)
    def rewards(*, status: list[str], **columns: Any) -> list[float | None]:
        paid = reward_func(status=status, **columns)
        return [None if how == "failed" else value for how, value in zip(status, paid, strict=True)]

    return rewards
