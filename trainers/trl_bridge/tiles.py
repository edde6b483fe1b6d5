"""TRL's language-model head in tiles that a CPU's caches hold, over scored tokens alone.

TRL 1.16 computes log-probabilities in tiles of 4,096 tokens by 32,768 words, right for a GPU. A CPU
makes several float32 copies of a tile, 537 MB each, which the system gives and takes back one by
one. It also scores every token there, prompts and observations included.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trl.kernels import chunked_logprob
from trl.trainer import utils

TOKENS = 128
"""Rows of a tile; with a vocabulary of 49,152 words it has 25 MB in float32."""


@contextmanager
def tiles_for(device: Any) -> Iterator[None]:
    """Let TRL's head compute in small tiles, forward and backward, where the device is a CPU.

    Args:
        device: a `torch.device`.
    """
    if device.type != "cpu":
        yield
        return
    tokens, is_compact = chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton
    chunked_logprob.TOKEN_CHUNK_SIZE = TOKENS
    utils._use_triton = lambda _device: True  # read there for nothing but which tokens are scored
    try:
        yield
    finally:
        chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton = tokens, is_compact


class TilesMixin:
    """A mixin before a `transformers.Trainer` of TRL's, whose passes compute in such tiles."""

    def training_step(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute a micro-batch's gradient; see `transformers.Trainer.training_step`."""
        with tiles_for(self.accelerator.device):
            return super().training_step(*args, **kwargs)  # type: ignore[misc]

    def prediction_step(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute a loss alone; see `transformers.Trainer.prediction_step`."""
        with tiles_for(self.accelerator.device):
            return super().prediction_step(*args, **kwargs)  # type: ignore[misc]
