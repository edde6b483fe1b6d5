"""Means and extremes over all trained tokens of a log entry, however many passes it has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

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
