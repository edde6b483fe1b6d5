"""The padded batch that TRL trains on, under TRL's keys: weights of rows, and less padding.

Pure functions of tensors.
"""

from __future__ import annotations

from typing import Any

import torch

_MEAN_OVER_TOKENS_THEN_ROWS = ("grpo", "sapo")
_SUM_OVER_TOKENS_MEAN_OVER_ROWS = ("dr_grpo", "luspo")


def is_mean_over_rows(loss_type: str) -> bool:
    """Return whether TRL's loss of this name is a mean over the rows of a micro-batch."""
    return loss_type in _MEAN_OVER_TOKENS_THEN_ROWS + _SUM_OVER_TOKENS_MEAN_OVER_ROWS


def row_weights(
    loss_type: str, *, tokens: torch.Tensor, episode_of_row: torch.Tensor, num_episodes: float
) -> torch.Tensor:
    """Return the factors that make TRL's mean over rows a mean over episodes.

    Where rows are episodes and all count, every factor is 1. Otherwise a loss that averages over
    rows would count fillers, and an episode of several windows as often as it has windows.

    Args:
        loss_type: TRL's name of the loss.
        tokens: (R,) the sampled tokens of each row.
        episode_of_row: (R,) int64; -1 for fillers.
        num_episodes: the episodes that count.

    Returns:
        (R,) float32, to multiply the advantages and the KL with.
    """
    weights = torch.ones_like(tokens, dtype=torch.float32)
    if not is_mean_over_rows(loss_type):
        return weights
    weights *= len(tokens) / max(num_episodes, 1.0)
    if loss_type in _MEAN_OVER_TOKENS_THEN_ROWS:
        same_episode = episode_of_row[:, None] == episode_of_row[None, :]  # (R, R)
        of_episode = (same_episode * tokens[None, :]).sum(dim=1)  # (R,)
        weights *= tokens / of_episode.clamp(min=1)
    return weights


def trim_padding(batch: dict[str, Any]) -> dict[str, Any]:
    """Cut the columns that are padding in every row: left of prompts, right of completions."""
    prompt_width = max(int(batch["prompt_mask"].sum(dim=1).max()), 1)
    width = max(int(batch["completion_mask"].sum(dim=1).max()), 1)
    full_width = batch["completion_ids"].size(1)
    trimmed = dict(batch)
    for key, value in batch.items():
        if not isinstance(value, torch.Tensor) or value.ndim < 2:
            continue
        if key.startswith("prompt_"):
            trimmed[key] = value[:, -prompt_width:]
        elif value.size(1) == full_width:
            trimmed[key] = value[:, :width]
    return trimmed


def has_signal(batch: dict[str, Any]) -> torch.Tensor:
    """Return which rows, (B,) bool, have an advantage: only these have a policy gradient."""
    advantages = batch["advantages"]  # (B,) or (B, T)
    return (advantages != 0).flatten(1).any(dim=1) if advantages.ndim > 1 else advantages != 0


def regroup(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Spread the rows of one optimizer step anew over its micro-batches.

    Rows of like length come together, so that less is padding, and rows without an advantage come
    last, so that whole micro-batches have none. The sum over the micro-batches stays the same.
    """
    joined = {
        key: torch.cat([batch[key] for batch in batches]) if value.ndim else value
        for key, value in batches[0].items()
    }
    lengths = joined["prompt_mask"].sum(dim=1) + joined["completion_mask"].sum(dim=1)
    lengths = lengths * has_signal(joined).to(lengths.device)
    order = torch.argsort(lengths, descending=True, stable=True)
    chunks = order.split(len(batches[0]["prompt_ids"]))
    return [
        {
            key: value[chunk.to(value.device)] if value.ndim else value
            for key, value in joined.items()
        }
        for chunk in chunks
    ]
