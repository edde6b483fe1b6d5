"""Whether optimizer steps change the weights, which in 16 bits a small step does not."""

from __future__ import annotations

import logging
from typing import Any

import torch
from transformers import TrainerCallback

logger = logging.getLogger(__name__)

CHANGED = "weights_changed"
_SAMPLE = 1 << 20
"""Weights that are compared, spread evenly over all that are trained."""
_ENOUGH = 0.5
"""The share that one step must change for no warning."""


class WeightChanges(TrainerCallback):  # type: ignore[misc]
    """Warns where steps are lost in rounding, and logs the share of weights that have changed.

    Adam's first steps change each weight by about the learning rate. In bfloat16 neighbouring
    numbers differ by 1/256 of their size, so a step of 1e-6 leaves a weight of 0.02 where it is.

    Args:
        log: add `weights_changed` to the log: of a sample of the trained weights, the share that
            differs from what training, or the resumed part of it, began with.
    """

    def __init__(self, *, log: bool = False) -> None:
        self._log = log
        self._start: torch.Tensor | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, **_kwargs: Any
    ) -> None:
        """Warn where a step of the learning rate changes few weights."""
        if not state.is_world_process_zero:
            return
        start = sample_of_weights(model)
        if self._log:
            self._start = start
        if start is None or start.dtype not in (torch.bfloat16, torch.float16):
            return
        share = share_changed(start, (start.float() + args.learning_rate).to(start.dtype))
        if share < _ENOUGH:
            kind = str(start.dtype).removeprefix("torch.")
            logger.warning(
                "the trained weights are %s, in which a step of --learning_rate %g changes %.1f%% "
                "of them: the others stay as they are. Train float32 weights (--dtype float32, "
                "with --bf16 for passes in bfloat16) or an adapter (--use_peft)",
                kind,
                args.learning_rate,
                100 * share,
            )

    def on_log(
        self,
        args: Any,
        state: Any,
        control: Any,
        logs: dict[str, Any] | None = None,
        model: Any = None,
        **_kwargs: Any,
    ) -> None:
        """Add the share to one entry, where it is asked for."""
        if logs is None or self._start is None or not state.is_world_process_zero:
            return
        now = sample_of_weights(model)
        if now is not None and now.shape == self._start.shape:
            logs[CHANGED] = share_changed(self._start, now)


def sample_of_weights(model: Any) -> torch.Tensor | None:
    """Return (N,) trained weights of the commonest precision, N <= 1M, or None.

    Args:
        model: of weights that are split among processes, this one's part is sampled.
    """
    trained = [p for p in model.parameters() if p.requires_grad and p.numel()]
    if not trained:
        return None
    sizes: dict[torch.dtype, int] = {}
    for weight in trained:
        sizes[weight.dtype] = sizes.get(weight.dtype, 0) + weight.numel()
    dtype = max(sizes, key=lambda kind: sizes[kind])
    every = -(-sizes[dtype] // _SAMPLE)
    parts = [
        getattr(weight, "_local_tensor", weight).detach().reshape(-1)[::every].cpu()
        for weight in trained
        if weight.dtype == dtype
    ]
    return torch.cat(parts)


def share_changed(before: torch.Tensor, after: torch.Tensor) -> float:
    """Return the share of elements that differ."""
    return float((before != after).float().mean())
