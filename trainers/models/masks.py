"""Attention masks of our own, for transformers models whose layers attend by position."""

from __future__ import annotations

from typing import Any

import torch

KINDS = {"full_attention", "sliding_attention"}
"""The kinds of layers that attend by position."""


def other_kinds(config: Any) -> set[str]:
    """Return the kinds of layers that a model has beside full and sliding-window attention."""
    return set(getattr(config, "layer_types", None) or {"full_attention"}) - KINDS


def attention_masks(
    config: Any, distances: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor | dict[str, torch.Tensor]:
    """Build the additive attention masks of a text model.

    Args:
        config: the text model's.
        distances: (B, C, L) int64, how far each of C tokens is behind each of L; below 0 where it
            may not see it.
        dtype: the precision of attention.

    Returns:
        (B, 1, C, L) masks: one, or one for each kind of layer.
    """
    distances = distances[:, None]
    masks = {"full_attention": _additive(distances < 0, dtype)}
    kinds = getattr(config, "layer_types", None)
    window = getattr(config, "sliding_window", None)
    if window is None or not (kinds is None or "sliding_attention" in kinds):
        return masks["full_attention"]
    masks["sliding_attention"] = _additive((distances < 0) | (distances >= window), dtype)
    return masks["sliding_attention"] if kinds is None or len(set(kinds)) == 1 else masks


def _additive(hidden: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
    return mask.masked_fill_(hidden, torch.finfo(dtype).min)
