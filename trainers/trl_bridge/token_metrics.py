"""Means and extremes over all sampled tokens of a log entry, however many passes it has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

Logged = dict[str, list[float]]
"""TRL's metrics, by name."""
Values = Mapping[str, torch.Tensor]
"""(B, T) by the metric's name."""


class TokenMetrics:
    """Keeps metrics of tokens up to date within one log entry, over all processes.

    Args:
        accelerator: joins the processes, which all make as many passes.
    """

    def __init__(self, accelerator: Any) -> None:
        self._accelerator = accelerator
        self._sums = torch.zeros(0)

    def add(
        self,
        logged: Logged,
        mask: torch.Tensor,
        *,
        mean: Values,
        smallest: Values,
        largest: Values,
    ) -> None:
        """Add the tokens of a pass.

        Args:
            logged: TRL empties them with each log entry.
            mask: (B, T); tokens of mask 0 do not count.
            mean: what is averaged over the tokens.
            smallest: what the smallest one is kept of.
            largest: what the largest one is kept of.
        """
        is_first = not any(logged.get(name) for name in mean)
        self._add_means(logged, mask != 0, mean, is_first=is_first)
        if smallest or largest:
            self._add_extremes(logged, mask != 0, smallest, largest)

    def _add_means(
        self, logged: Logged, counts: torch.Tensor, mean: Values, *, is_first: bool
    ) -> None:
        sums = torch.stack(
            [*(of[counts].float().sum() for of in mean.values()), counts.float().sum()]
        )
        sums = self._accelerator.reduce(sums, reduction="sum")
        self._sums = sums if is_first else self._sums + sums
        *totals, count = self._sums.tolist()
        # TRL logs the mean of a list, and empties it: one entry each is kept up to date.
        for name, total in zip(mean, totals, strict=True):
            logged[name] = [total / max(count, 1.0)]

    def _add_extremes(
        self,
        logged: Logged,
        counts: torch.Tensor,
        smallest: Values,
        largest: Values,
    ) -> None:
        of_pass = torch.stack(
            [
                of.float().masked_fill(~counts, -math.inf).max()
                for of in (*(-of for of in smallest.values()), *largest.values())
            ]
        )
        ends = self._accelerator.gather(of_pass[None]).amax(dim=0).tolist()
        for place, name in enumerate((*smallest, *largest)):
            if ends[place] == -math.inf:  # no token in any process
                continue
            is_smallest = place < len(smallest)
            end, choose = (-ends[place], min) if is_smallest else (ends[place], max)
            logged[name] = [choose([*logged.get(name, []), end])]
