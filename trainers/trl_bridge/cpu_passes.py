"""Keeps the memory of a pass on a CPU small, forward and backward.

- TRL 1.16 computes log-probabilities in tiles of 4,096 tokens by 32,768 words, right for a GPU. On
  a CPU it makes several float32 copies of a tile, 537 MB each, and scores every token, prompts and
  observations included. Here tiles fit a CPU's caches, and hold scored tokens alone.
- A pass keeps about 100 bytes for each token, layer and hidden unit. Where that comes to more than
  `LARGEST_ACTIVATIONS`, each layer's are computed again in the backward pass (gradient
  checkpointing), which takes about a third longer.
- Rows differ in length, so what one pass frees seldom fits the next, and the C library keeps it. It
  is told after every step to give free memory back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from transformers import TrainerCallback
from trl.kernels import chunked_logprob
from trl.trainer import utils

TOKENS = 128
"""Rows of a tile; with 32,768 words it has 17 MB in float32."""
LARGEST_ACTIVATIONS = 2e9
"""Bytes of a pass beyond which they are not kept."""
_BYTES = 100
"""Kept for each token, layer and hidden unit, as measured with an adapter under bfloat16."""


def save_memory_on_cpu(trainer: Any) -> None:
    """Let a trainer on a CPU give memory back, and keep no activations of large passes.

    Args:
        trainer: one of TRL's; on an accelerator nothing changes.
    """
    if trainer.accelerator.device.type != "cpu":
        return
    trainer.add_callback(_GiveBackCallback())
    if not trainer.args.gradient_checkpointing:
        checkpoint_large_passes(trainer.accelerator.unwrap_model(trainer.model))


class _GiveBackCallback(TrainerCallback):
    """Gives free memory back to the system around the optimizer's step."""

    def on_pre_optimizer_step(self, *_args: Any, **_kwargs: Any) -> None:
        give_back_memory()

    def on_step_end(self, *_args: Any, **_kwargs: Any) -> None:
        give_back_memory()


def give_back_memory() -> None:
    """Give free memory back to the system. Does nothing where the C library is not glibc."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def small_tiles(device: torch.device) -> Iterator[None]:
    """Let TRL's head compute in small tiles, over scored tokens alone, where it is on a CPU."""
    if device.type != "cpu":
        yield
        return
    tokens, only_scored = chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton
    chunked_logprob.TOKEN_CHUNK_SIZE = TOKENS
    utils._use_triton = lambda _device: True  # read in `utils` for nothing but what is scored
    try:
        yield
    finally:
        chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton = tokens, only_scored


def checkpoint_large_passes(model: Any) -> None:
    """Let a model keep the activations of small passes alone, from now on.

    Args:
        model: a transformers model that can be checkpointed, or a peft model around one; another
            one is left as it is.
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    if not getattr(base, "supports_gradient_checkpointing", False):
        return
    base.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    layers = [module for module in base.modules() if hasattr(module, "gradient_checkpointing")]
    config = base.config.get_text_config(decoder=True)
    per_token = _BYTES * config.num_hidden_layers * config.hidden_size

    def choose(_module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        ids = kwargs.get("input_ids", args[0] if args else None)
        is_large = ids is not None and ids.numel() * per_token > LARGEST_ACTIVATIONS
        for layer in layers:
            layer.gradient_checkpointing = is_large

    base.base_model.register_forward_pre_hook(choose, with_kwargs=True)
