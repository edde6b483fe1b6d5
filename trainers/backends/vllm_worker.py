"""Loads a policy's weights in vLLM's workers, as a mixin of its worker class.

In process it is named by `trainers.backends.vllm`; a server is started with `--worker-extension-cls
trainers.backends.vllm_worker.PolicyWorker`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open


class PolicyWorker:
    """Loads weights from an iterator or a folder, on `get_model` and `reload_weights`."""

    get_model: Any
    reload_weights: Any

    def load_policy_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Replace the weights by named tensors, or raise `RuntimeError` if some are missing.

        The tensors have any shape (...), as in a checkpoint.
        """
        model = self.get_model()
        expected = {name for name, _ in model.named_parameters()}
        loaded: set[str] = set()
        original = model.load_weights

        def load_weights(weights_iterator: Iterable[tuple[str, torch.Tensor]]) -> set[str]:
            loaded.update(original(weights_iterator))
            return loaded

        # vLLM only logs what it missed, and a policy in part old would go on sampling.
        model.load_weights = load_weights
        try:
            self.reload_weights(weights_iterator=weights)
        finally:
            del model.load_weights
        if expected - loaded:
            raise RuntimeError(f"no weights were given for {sorted(expected - loaded)[:5]}")
        _repack_tied_head(model)

    def load_policy_folder(self, folder: str) -> None:
        """Replace the weights by those of the safetensors files in a folder."""
        self.load_policy_weights(_read_folder(folder))


def _repack_tied_head(model: Any) -> None:
    """Pack the output layer again if it shares the input embeddings.

    vLLM's CPU build multiplies by a packed copy of the weights; on reloading (0.31) it packs those
    layers again that were given weights of their own, which a tied output layer is not.
    """
    head: Any = getattr(model, "lm_head", None)
    if hasattr(head, "cpu_linear"):
        head.quant_method.process_weights_after_loading(head)


def _read_folder(folder: str) -> Iterator[tuple[str, torch.Tensor]]:
    for path in sorted(Path(folder).glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():
                yield name, file.get_tensor(name)
