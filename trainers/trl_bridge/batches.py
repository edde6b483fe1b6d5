"""The padded batch that TRL trains on, under TRL's keys: weights of rows, and less padding."""

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


def two_columns(batch: dict[str, Any]) -> dict[str, Any]:
    """Return a batch with T of 2 at least.

    TRL takes (B, 1) tensors for a value per row, and then averages its metrics over rows, masked or
    not, in place of tokens.
    """
    if batch["completion_ids"].size(1) > 1:
        return batch
    return {
        key: torch.nn.functional.pad(value, (0, 1))
        if isinstance(value, torch.Tensor) and value.ndim == 2 and not key.startswith("prompt_")
        else value
        for key, value in batch.items()
    }


def has_signal(batch: dict[str, Any]) -> torch.Tensor:
    """Return which rows, (B,) bool, have an advantage: only these have a policy gradient."""
    return (batch["advantages"] != 0).any(dim=1)


def lay_out(trainer: Any, batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return micro-batches with little padding, and rows together that are cheap together.

    Args:
        trainer: an `OnlineTrainer`.
        batches: the micro-batches that a batch of episodes serves.
    """
    steps, per_update = trainer.args.steps_per_generation, trainer.args.gradient_accumulation_steps
    # Micro-batches may change places within one optimizer step only.
    together = min(per_update, steps)
    is_whole = steps % per_update == 0 or per_update % steps == 0
    if is_whole and not trainer.policy_loss.has_terms_of_micro_batches:
        model = trainer.accelerator.unwrap_model(trainer.model)
        hidden_size = model.config.get_text_config(decoder=True).hidden_size
        batches = [
            batch
            for first in range(0, steps, together)
            for batch in regroup(batches[first : first + together], hidden_size)
        ]
    return [trim_padding(batch) for batch in batches]


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
