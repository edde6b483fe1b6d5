"""Metrics of a batch's tokens over all passes, and of its episodes over all processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean
from types import MappingProxyType
from typing import Any

import torch

from agentgym_envs.trajectories.trajectory import Trajectory
from wrappers.schedules import start_at

Logged = dict[str, list[float]]
"""TRL's metrics, by name."""
Values = Mapping[str, torch.Tensor]
"""(B, T) by the metric's name."""

_NONE: Mapping[str, Any] = MappingProxyType({})
MEANS = (
    *("kl", "entropy", "cispo_clip_ratio", "vespo/phi_seq_mean"),
    *(f"clip_ratio/{name}" for name in ("low_mean", "high_mean", "region_mean")),
)
"""TRL's means over the tokens of a pass, of all processes."""
SMALLEST, LARGEST = "clip_ratio/low_min", "clip_ratio/high_max"
"""TRL's extremes of means over the tokens of a row."""
ROW_METRICS = (
    *(f"completions/{end}_length" for end in ("mean", "min", "max")),
    *(f"completions/{end}_terminated_length" for end in ("mean", "min", "max")),
    "completions/clipped_ratio",
)
"""TRL's lengths of rows."""


class TokenMetrics:
    """Means and extremes over the tokens of one log entry, in all processes' passes."""

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
        smallest: Values = _NONE,
        largest: Values = _NONE,
        trl_metrics: Mapping[str, float] = _NONE,
    ) -> None:
        """Add the tokens of a pass.

        Args:
            logged: TRL empties them with each log entry.
            mask: (B, T); tokens of mask 0 do not count.
            mean: values to average over the tokens, in place of TRL's means of the same name.
            smallest: values to log the smallest of.
            largest: values to log the largest of.
            trl_metrics: TRL's own metrics of the tokens of this pass, of all processes.
        """
        counts = mask != 0
        sums = [*(of[counts].float().sum() for of in mean.values()), counts.float().sum()]
        *totals, count = self._accelerator.reduce(torch.stack(sums), reduction="sum").tolist()
        self._add_means(
            logged,
            {
                **{name: trl_metrics[name] * count for name in MEANS if name in trl_metrics},
                **dict(zip(mean, totals, strict=True)),
            },
            count,
        )
        ends = self._extremes(counts, smallest, largest)
        for name, value in {**ends, **_without_nan(trl_metrics, SMALLEST, LARGEST)}.items():
            choose = min if name == SMALLEST or name in smallest else max
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
        pass_extremes = torch.stack(
            [
                of.float().masked_fill(~counts, -math.inf).max()
                for of in (*(-of for of in smallest.values()), *largest.values())
            ]
        )
        ends = self._accelerator.gather(pass_extremes[None]).amax(dim=0).tolist()
        signs = [*(-1.0 for _ in smallest), *(1.0 for _ in largest)]
        return {
            name: sign * end
            for name, sign, end in zip((*smallest, *largest), signs, ends, strict=True)
            if end != -math.inf
        }


@contextmanager
def pop_trl_metrics(logged: Logged) -> Iterator[dict[str, float]]:
    """Remove TRL's own metrics of a pass's tokens from the lists that it logs the means of.

    Yields:
        the values by name, which are there after the pass.
    """
    names = (*MEANS, SMALLEST, LARGEST)
    before = {name: len(logged.get(name, ())) for name in names}
    popped: dict[str, float] = {}
    yield popped
    for name, count in before.items():
        values = logged.get(name, [])
        if len(values) > count:
            popped[name] = values.pop()
        if not values:
            logged.pop(name, None)  # TRL logs None of an empty list


def _without_nan(values: Mapping[str, float], *names: str) -> dict[str, float]:
    return {name: values[name] for name in names if not math.isnan(values.get(name, math.nan))}


def horizons(schedule: Any, step: int, names: Mapping[str, str]) -> dict[str, float]:
    """Return the horizon by metric: of a schedule, or of each environment's and their mean."""
    if schedule is None:
        return {}
    if not isinstance(schedule, Mapping):
        return {"horizon": float(schedule(step))}
    return _with_mean("horizon", {names[name]: float(of(step)) for name, of in schedule.items()})


def starts(
    schedule: Any, step: int, names: Mapping[str, str], trajectories: Sequence[Trajectory]
) -> dict[str, float]:
    """Return the start and the mean number of the expert's turns by metric.

    A start is in turns before the expert's end; there is none at the tasks' own starts, nor one of
    all tasks where they are drawn.
    """
    metrics = {"given_turns": fmean(len(trajectory.prefix) for trajectory in trajectories)}
    if isinstance(schedule, Mapping):
        turns = {names[name]: start_at(of, step) for name, of in schedule.items()}
        own = {name: float(start) for name, start in turns.items() if start is not None}
        return metrics | (_with_mean("start", own) if own else {})
    start = start_at(schedule, step)
    return metrics if start is None else {**metrics, "start": float(start)}


def _with_mean(key: str, own: Mapping[str, float]) -> dict[str, float]:
    return {key: fmean(own.values()), **{f"{key}/{name}": turns for name, turns in own.items()}}


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
    for name in ROW_METRICS:
        logged.pop(name, None)
    for name, value in metrics.items():
        logged[name].append(value)


def replace_all(column: Any, values: Sequence[Any]) -> None:
    """Replace TRL's values in a column of its table of completions."""
    column.clear()
    column.extend(values)
