"""Metrics of a batch of episodes: of each environment, and their mean over environments.

Pooled, the environment with the most episodes would speak for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from trainers.credit.rewards import episode_metrics, zero_std_group_fraction
from trainers.metrics import METRICS

_COUNTS = ("episodes/failed", "episodes/failed_share", "episodes/without_reward")
"""Metrics that are of all episodes together."""


def metrics_by_environment(
    names: Sequence[str],
    *,
    rewards: Sequence[float],
    columns: Mapping[str, Sequence[Any]],
    group_size: int,
    environments: Sequence[str] = (),
) -> dict[str, float]:
    """Summarize a batch of episodes.

    Args:
        names: the environment of each episode; empty strings for a single environment.
        rewards: of each episode; NaN where it does not count.
        columns: `trainers.credit.rewards.reward_columns`.
        group_size: episodes per task; the groups follow one another.
        environments: the names of all; the share of one without an episode is 0.

    Returns:
        `trainers.credit.rewards.episode_metrics`, and `frac_reward_zero_std` if there are
        groups. With several environments, means are means over those of the batch. `reward` is
        added, and each environment's metrics under their name `each` of the table, such as
        `share/TextCraft`, its share of the episodes.
    """
    metrics = _metrics(range(len(names)), rewards, columns, group_size)
    present = sorted(set(names))
    if present in ([], [""]):
        return metrics
    own = {}
    for name in present:
        places = [place for place, other in enumerate(names) if other == name]
        own[name] = _metrics(places, rewards, columns, group_size)
        own[name]["share"] = len(places) / len(names)
        own_rewards = [rewards[place] for place in places if rewards[place] == rewards[place]]
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
    places: Sequence[int],
    rewards: Sequence[float],
    columns: Mapping[str, Sequence[Any]],
    group_size: int,
) -> dict[str, float]:
    own_rewards = [rewards[place] for place in places]
    chosen = {name: [values[place] for place in places] for name, values in columns.items()}
    metrics = episode_metrics(rewards=own_rewards, **chosen)
    if group_size > 1:
        metrics["frac_reward_zero_std"] = zero_std_group_fraction(own_rewards, group_size)
    return metrics
