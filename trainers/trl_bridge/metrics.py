"""Metrics of a batch: of its tokens, over all passes, and of its episodes, over all processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean
from typing import Any

import torch
from accelerate.utils import gather_object

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.credit.by_environment import metrics_by_environment
from trainers.credit.rewards import episode_columns

Logged = dict[str, list[float]]
"""TRL's metrics, by name."""
Values = Mapping[str, torch.Tensor]
"""(B, T) by the metric's name."""

MEANS = (
    *("kl", "entropy", "cispo_clip_ratio", "vespo/phi_seq_mean"),
    *(f"clip_ratio/{name}" for name in ("low_mean", "high_mean", "region_mean")),
)
"""TRL's means over the tokens of a pass, of all processes."""
SMALLEST, LARGEST = "clip_ratio/low_min", "clip_ratio/high_max"
"""TRL's extremes of means over the tokens of a row."""
OF_ROWS = (
    *(f"completions/{end}_length" for end in ("mean", "min", "max")),
    *(f"completions/{end}_terminated_length" for end in ("mean", "min", "max")),
    "completions/clipped_ratio",
)
"""TRL's lengths of rows."""


class TokenMetrics:
    """Keeps metrics of tokens up to date within one log entry, over all processes.

    Args:
        accelerator: joins the processes, which all make as many passes.
    """

    def __init__(self, accelerator: Any) -> None:
        self._accelerator = accelerator
        self._sums: dict[str, float] = {}
        self._count = 0.0

    def add(
        self,
        logged: Logged,
        mask: torch.Tensor,
        *,
        mean: Values,
        smallest: Values | None = None,
        largest: Values | None = None,
        of_trl: Mapping[str, float] | None = None,
    ) -> None:
        """Add the tokens of a pass.

        Args:
            logged: TRL empties them with each log entry.
            mask: (B, T); tokens of mask 0 do not count.
            mean: what is averaged over the tokens.
            smallest: what the smallest one is kept of.
            largest: what the largest one is kept of.
            of_trl: what TRL has logged of the tokens of this pass, of all processes.
        """
        counts, of_trl = mask != 0, of_trl or {}
        sums = [*(of[counts].float().sum() for of in mean.values()), counts.float().sum()]
        *totals, count = self._accelerator.reduce(torch.stack(sums), reduction="sum").tolist()
        self._add_means(
            logged,
            {
                **dict(zip(mean, totals, strict=True)),
                **{name: of_trl[name] * count for name in MEANS if name in of_trl},
            },
            count,
        )
        ends = self._extremes(counts, smallest or {}, largest or {})
        for name, value in {**ends, **_without_nan(of_trl, SMALLEST, LARGEST)}.items():
            choose = min if name == SMALLEST or name in (smallest or {}) else max
            logged[name] = [choose([*logged.get(name, []), value])]

    def _add_means(self, logged: Logged, totals: Mapping[str, float], count: float) -> None:
        if not any(logged.get(name) for name in totals):  # a new entry
            self._sums, self._count = {}, 0.0
        self._count += count
        for name, total in totals.items():
            self._sums[name] = self._sums.get(name, 0.0) + total
            # TRL logs the mean of a list, and empties it: one entry each is kept up to date.
            if self._count:
                logged[name] = [self._sums[name] / self._count]

    def _extremes(
        self, counts: torch.Tensor, smallest: Values, largest: Values
    ) -> dict[str, float]:
        """Return the metrics of a pass over all processes, if it has any token."""
        if not smallest and not largest:
            return {}
        of_pass = torch.stack(
            [
                of.float().masked_fill(~counts, -math.inf).max()
                for of in (*(-of for of in smallest.values()), *largest.values())
            ]
        )
        ends = self._accelerator.gather(of_pass[None]).amax(dim=0).tolist()
        signs = [*(-1.0 for _ in smallest), *(1.0 for _ in largest)]
        return {
            name: sign * end
            for name, sign, end in zip((*smallest, *largest), signs, ends, strict=True)
            if end != -math.inf
        }


@contextmanager
def taken_from_trl(logged: Logged) -> Iterator[dict[str, float]]:
    """Remove TRL's own metrics of a pass's tokens from the lists that it logs the means of.

    Args:
        logged: TRL's metrics.

    Yields:
        the values by name, which are there after the pass.
    """
    names = (*MEANS, SMALLEST, LARGEST)
    before = {name: len(logged.get(name, ())) for name in names}
    taken: dict[str, float] = {}
    yield taken
    for name, count in before.items():
        values = logged.get(name, [])
        if len(values) > count:
            taken[name] = values.pop()
        if not values:
            logged.pop(name, None)  # TRL logs None of an empty list


def _without_nan(values: Mapping[str, float], *names: str) -> dict[str, float]:
    return {name: values[name] for name in names if not math.isnan(values.get(name, math.nan))}


def horizons(schedule: Any, step: int, names: Mapping[str, str]) -> dict[str, float]:
    """Return the horizon, or the mean over environments and that of each, by metric.

    Args:
        schedule: a horizon schedule, one for each environment by its name in task ids, or None.
        step: the optimizer step.
        names: what metrics call the environments.
    """
    if schedule is None:
        return {}
    if not isinstance(schedule, Mapping):
        return {"horizon": float(schedule(step))}
    own = {names[name]: float(of(step)) for name, of in schedule.items()}
    return {
        "horizon": fmean(own.values()),
        **{f"horizon/{name}": horizon for name, horizon in own.items()},
    }


def episode_metrics(
    trajectories: Sequence[Trajectory],
    environments: Sequence[str],
    rewards: Sequence[float],
    *,
    labels: Sequence[str],
    group_size: int,
    is_distributed: bool,
) -> dict[str, float]:
    """Return the metrics of the episodes of all processes.

    Args:
        trajectories: this process's.
        environments: the label of each one's environment.
        rewards: of all processes' episodes.
        labels: of the run's environments.
        group_size: episodes per task.
        is_distributed: there are other processes.
    """
    columns, names = episode_columns(trajectories), list(environments)
    if is_distributed:
        columns = {name: gather_object(values) for name, values in columns.items()}
        names = gather_object(names)
    return metrics_by_environment(
        names, rewards=rewards, columns=columns, group_size=group_size, environments=labels
    )


def replace_metrics(logged: Logged, metrics: Mapping[str, float]) -> None:
    """Log metrics of episodes in place of TRL's of its rows.

    TRL's share of groups without variance counts no group whose episodes all failed, and is 1 where
    there are no groups; its reward is of all episodes together; its lengths are of rows, of which
    an episode has several.
    """
    for name in {"frac_reward_zero_std", "reward"} & {"frac_reward_zero_std", *metrics}:
        logged[name].pop()
        if not logged[name]:
            del logged[name]  # TRL logs None of an empty list
    for name in OF_ROWS:
        logged.pop(name, None)
    for name, value in metrics.items():
        logged[name].append(value)


def replace_all(column: Any, values: Sequence[Any]) -> None:
    """Put a batch's values in place of TRL's in its table of completions, which holds a batch."""
    column.clear()
    column.extend(values)
