"""The padded batch that TRL trains on, under TRL's keys: weights of rows, and less padding.

Pure functions of tensors.
"""

from __future__ import annotations

from typing import Any

import torch

from trainers.trl_bridge.layout import Sizes

_MEAN_OVER_TOKENS_THEN_ROWS = ("grpo", "sapo")
_SUM_OVER_TOKENS_MEAN_OVER_ROWS = ("dr_grpo", "luspo")


def is_mean_over_rows(loss_type: str) -> bool:
    """Return whether TRL's loss of this name is a mean over the rows of a micro-batch."""
    return loss_type in _MEAN_OVER_TOKENS_THEN_ROWS + _SUM_OVER_TOKENS_MEAN_OVER_ROWS


def row_weights(
    loss_type: str, *, tokens: torch.Tensor, episode_of_row: torch.Tensor, num_episodes: float
) -> torch.Tensor:
    """Return the factors that make TRL's mean over rows a mean over episodes.

    Where rows are episodes and all are trained on, every factor is 1. Otherwise a loss that
    averages over rows would count fillers, and an episode of several windows as often as it has
    windows.

    Args:
        loss_type: TRL's name of the loss.
        tokens: (R,) the sampled tokens of each row.
        episode_of_row: (R,) int64; -1 for fillers.
        num_episodes: the episodes that are trained on, which have tokens.

    Returns:
        (R,) float32, to multiply the advantages and the KL with; 0 for a row without tokens.
    """
    weights = (tokens > 0).to(torch.float32)
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


def token_advantages(batch: dict[str, Any]) -> dict[str, Any]:
    """Return a batch whose advantages are (B, T), with T of 2 at least.

    TRL takes (B, 1) tensors for a value per row, and then averages its metrics over rows, masked or
    not, in place of tokens.
    """
    advantages, width = batch["advantages"], batch["completion_ids"].size(1)
    if advantages.ndim == 1:
        advantages = advantages[:, None].expand(-1, width)
    changed = {**batch, "advantages": advantages}
    if width > 1:
        return changed
    return {
        key: torch.nn.functional.pad(value, (0, 1))
        if isinstance(value, torch.Tensor) and value.ndim == 2 and not key.startswith("prompt_")
        else value
        for key, value in changed.items()
    }


def has_signal(batch: dict[str, Any]) -> torch.Tensor:
    """Return which rows, (B,) bool, have an advantage: only these have a policy gradient."""
    advantages = batch["advantages"]  # (B,) or (B, T)
    return (advantages != 0).flatten(1).any(dim=1) if advantages.ndim > 1 else advantages != 0


def regroup(batches: list[dict[str, Any]], hidden_size: int) -> list[dict[str, Any]]:
    """Spread the rows of one optimizer step anew over its micro-batches.

    Rows of one prompt come together, so that it is computed once, or rows of like length, so that
    less is padding, whichever costs less; and rows without an advantage come last, so that whole
    micro-batches have none. The sum over the micro-batches stays the same.

    Args:
        batches: the micro-batches.
        hidden_size: of the model.
    """
    joined = {
        key: torch.cat([batch[key] for batch in batches]) if value.ndim else value
        for key, value in batches[0].items()
    }
    size = len(batches[0]["prompt_ids"])
    chunks = _cheaper(joined, size, hidden_size)
    return [
        {
            key: value[torch.tensor(chunk, device=value.device)] if value.ndim else value
            for key, value in joined.items()
        }
        for chunk in chunks
    ]


def _cheaper(batch: dict[str, Any], size: int, hidden_size: int) -> list[list[int]]:
    """Return the rows of each micro-batch."""
    prompt_width = batch["prompt_ids"].size(1)
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
    sizes = Sizes.of(ids, mask, prompt_width, hidden_size)
    signal = has_signal(batch).tolist()
    by_length = sorted(range(len(ids)), key=lambda row: -sizes.lengths[row] * signal[row])
    with_signal = [row for row in by_length if signal[row]]
    by_prompt = [
        *(row for group in sizes.groups(with_signal).values() for row in group),
        *by_length[len(with_signal) :],
    ]
    orders = [
        [order[first : first + size] for first in range(0, len(order), size)]
        for order in (by_length, by_prompt)
    ]
    return min(orders, key=lambda chunks: sum(map(sizes.cost, chunks)))
