"""Attention over a cache of few key/value heads, without copying it for every query head.

It stands in for transformers' `sdpa` while turns are sampled: given a mask, that repeats keys and
values for each query head, the costliest part of a decoding step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

GROUPED = "agentgym_grouped"
_SHORT = 16
"""Longest query that is multiplied out. On a GPU longer ones go to `sdpa`."""
_BLOCK = 2**21
"""Scores multiplied out at once on a CPU, few enough for its caches.

In bfloat16 that takes about half of the time of `sdpa`.
"""


def grouped_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend with the query heads that share a key/value head as one matrix product.

    `query` is (B, H, C, D), `key` (B, H / G, L, D), `value` (B, H / G, L, E), and the additive mask
    (B, 1, C, L). `scaling` is by default 1 / sqrt(D). Returns (B, C, H, E), and no weights.
    """
    attention_mask = attention_mask.to(query.dtype)  # autocast lowers the query only
    batch, heads, length, size = query.shape
    scaling = size**-0.5 if scaling is None else scaling
    if length <= _SHORT:
        short = _multiplied(query, key, value, attention_mask, scaling)
        return short.transpose(1, 2).contiguous(), None
    if query.device.type != "cpu":
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
    mixed = query.new_empty(batch, heads, length, value.shape[-1])
    rows = max(1, _BLOCK // (heads * length * key.shape[2]))
    columns = min(length, max(1, _BLOCK // (heads * key.shape[2])))
    for row in range(0, batch, rows):
        these = slice(row, row + rows)
        for column in range(0, length, columns):
            part = np.s_[these, :, column : column + columns]
            mixed[part] = _multiplied(
                query[part], key[these], value[these], attention_mask[part], scaling
            )
    return mixed.transpose(1, 2).contiguous(), None


def _multiplied(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    scaling: float,
) -> torch.Tensor:
    """Return (B, H, C, E) from the arguments of `grouped_attention`."""
    batch, heads, length, size = query.shape
    groups = heads // key.shape[1]
    stacked = (query * scaling).reshape(batch, key.shape[1], groups * length, size)
    scores = torch.matmul(stacked, key.transpose(2, 3))
    scores = scores.view(batch, key.shape[1], groups, length, -1) + mask[:, :, None]
    weights = functional.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    mixed = torch.matmul(weights.view(*stacked.shape[:3], -1), value)
    return mixed.view(batch, heads, length, -1)


ALL_ATTENTION_FUNCTIONS.register(GROUPED, grouped_attention)


@contextmanager
def attention_for_sampling(model: PreTrainedModel) -> Iterator[None]:
    """Replace a model's attention in this block by one that takes our masks.

    `eager` takes them as it is; every other one gives way, since the model's weights and results
    are the same: to `eager` where it bounds the scores or adds sinks to them, which `sdpa` leaves
    out and ours does, too.
    """
    config = model.config.get_text_config(decoder=True)
    own = config._attn_implementation
    if own == "eager":
        yield
        return
    has_more = own != "sdpa" and (
        getattr(config, "attn_logit_softcapping", None) is not None
        or any(name.endswith(".sinks") for name, _ in model.named_parameters())
    )
    config._attn_implementation = "eager" if has_more else GROUPED
    try:
        yield
    finally:
        config._attn_implementation = own
