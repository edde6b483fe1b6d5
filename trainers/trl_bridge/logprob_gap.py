"""Measures the gap of sampled and trained log-probabilities over the tokens of a log entry."""

from __future__ import annotations

from typing import Any

import torch

_NAME = "sampling/sampling_logp_difference"


class LogprobGap:
    """Keeps the mean and the largest gap of one log entry, in nats.

    The trained log-probabilities are over all tokens: where top-k, top-p or min-p cut some off, the
    gap holds the logarithm of the probability that was left.

    Args:
        accelerator: joins the processes.
    """

    def __init__(self, accelerator: Any) -> None:
        self._accelerator = accelerator
        self._sums = torch.zeros(2)

    def add(
        self,
        logged: dict[str, list[float]],
        trained: torch.Tensor,
        sampled: torch.Tensor,
        mask: torch.Tensor,
    ) -> None:
        """Add the tokens of a pass.

        Args:
            logged: TRL's metrics, which it empties with each log entry.
            trained: (B, T) log-probabilities of the policy that is trained.
            sampled: (B, T), of when the tokens were sampled.
            mask: (B, T), 1 on sampled tokens.
        """
        gap = (trained - sampled).abs().masked_fill(mask == 0, 0.0)
        sums = torch.stack([gap.sum(), mask.sum().to(gap.dtype)])
        sums = self._accelerator.reduce(sums, reduction="sum")
        largest = self._accelerator.gather(gap.max().unsqueeze(0)).max().item()
        # TRL logs the mean of a list, and empties it: one entry each is kept up to date.
        before = logged.get(f"{_NAME}/max", [])
        self._sums = self._sums + sums if before else sums
        total, count = self._sums.tolist()
        logged[f"{_NAME}/mean"] = [total / max(count, 1.0)]
        logged[f"{_NAME}/max"] = [max([*before, largest])]
