"""A transformers model that reads and writes the rows of a `RowCache`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np
import torch
from transformers import PreTrainedModel

from trainers.backends.adapters import adapters_for_sampling
from trainers.backends.attention import attention_for_sampling
from trainers.backends.row_cache import RowCache
from trainers.backends.step_graphs import StepGraphs
from trainers.backends.weights import is_whole
from trainers.models.loading import computed_in, inputs_left_to_autocast
from trainers.models.masks import KINDS, attention_masks, other_kinds


class RowModel:
    """Runs forward passes over rows of different lengths.

    Args:
        model: a causal language model with full or sliding-window attention.
        autocast: the context of its passes.
        cuda_graphs: decoding steps are captured if possible, in `graphs`.

    Raises:
        ValueError: the model has layers of another kind.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        autocast: Callable[[], AbstractContextManager[None]] | None,
        *,
        cuda_graphs: bool = True,
    ) -> None:
        self.model = model
        self._autocast = autocast or nullcontext
        self.config = model.config.get_text_config(decoder=True)
        others = other_kinds(self.config)
        if others:
            raise ValueError(
                f"{type(model).__name__} has layers of kind {sorted(others)}, allowed are "
                f"{sorted(KINDS)}; sample from it with the vLLM backend"
            )
        self.graphs = StepGraphs(model, self._step, enabled=cuda_graphs)

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Put the model in evaluation mode without gradients in this block.

        Under autocast all weights are lowered once for the passes in between.
        """
        device = self.model.device.type
        training = [module for module in self.model.modules() if module.training]
        self.model.eval()
        hook = self.model.get_output_embeddings().register_forward_pre_hook(_in_one_piece)
        try:
            with (
                torch.no_grad(),
                self._autocast(),
                inputs_left_to_autocast(self.model, torch.is_autocast_enabled(device)),
                _frozen_lowered_once(self.model),
                attention_for_sampling(self.model),
                self._layers_for_sampling(),
            ):
                yield
        finally:
            hook.remove()
            for module in training:
                module.training = True

    def _layers_for_sampling(self) -> AbstractContextManager[None]:
        if self.graphs.works:
            # A graph reads an adapter's weights where they lie, and launches cost it nothing.
            return self.graphs.over_weights()
        return adapters_for_sampling(self.model, computed_in(self.model, None))

    def encode(
        self,
        cache: RowCache,
        first: int,
        ids: np.ndarray,
        *,
        positions: np.ndarray,
        is_token: np.ndarray,
    ) -> torch.Tensor:
        """Encode new tokens of the rows [first, first + N), padded on the left.

        `ids` are (N, C), with their `positions` in their rows; `is_token` is False for padding.
        Returns (N, V) float32 logits after each row's last token.
        """
        device = self.model.device
        seen = np.where(is_token, positions, 0)
        at = np.where(is_token, positions, cache.spare_column)
        ids_there, seen_there, at_there = (
            torch.from_numpy(array).to(device) for array in (ids, seen, at)
        )
        cache.open(first, first + len(ids), at_there)
        return self._run(cache, ids_there, seen_there)

    def advance(self, cache: RowCache, ids: torch.Tensor, positions: np.ndarray) -> torch.Tensor:
        """Encode one (N,) id more in each of the rows [0, N), at (N,) positions.

        Returns (N, V) float32 logits.
        """
        at = torch.from_numpy(positions[:, None]).to(self.model.device)
        replayed = self.graphs.advance(cache, ids[:, None], at)
        return self._step(cache, ids[:, None], at) if replayed is None else replayed

    def _step(self, cache: RowCache, ids: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        cache.open(0, len(ids), at)
        return self._run(cache, ids, at)

    def _run(self, cache: RowCache, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        columns = torch.arange(cache.window.columns, device=positions.device)
        output = self.model(
            input_ids=ids,
            attention_mask=attention_masks(
                self.config, positions[:, :, None] - columns, computed_in(self.model, None)
            ),
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        return output.logits[:, -1].float()


@contextmanager
def _frozen_lowered_once(model: PreTrainedModel) -> Iterator[None]:
    """Let autocast cache the lowered copies of frozen weights, as of those with gradients."""
    weights = [
        weight
        for weight in model.parameters()
        if not weight.requires_grad and weight.dtype == torch.float32 and is_whole(weight)
    ]
    try:
        for weight in weights:
            weight.requires_grad = True
        yield
    finally:
        for weight in weights:
            weight.requires_grad = False


def _in_one_piece(_head: torch.nn.Module, args: tuple[torch.Tensor]) -> torch.Tensor:
    """Copy the last hidden states into contiguous memory.

    torch multiplies a slice by a frozen head row by row, with a copy of the head for each row.
    """
    return args[0].contiguous()
