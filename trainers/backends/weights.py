"""A policy's weights under the names of its checkpoint, to be copied into another engine.

The policy itself is not touched: adapters are merged into copies of single layers, so the base does
not drift by being merged and unmerged.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import torch
from peft import PeftModel, PeftType
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils.other import AuxiliaryTrainingWrapper, ModulesToSaveWrapper
from safetensors.torch import save_file

from trainers.backends.spread import from_first

WEIGHTS_FILE = "policy.safetensors"
KEPT_ADAPTERS = 2
"""Versions of an adapter that lie in a folder and on a server."""
_ADAPTER = "adapter-"
_KEEPING_THE_BASE = (True, "gaussian")
"""Initializations that leave the base as it was. Others, such as PiSSA, take from it."""
_UNKNOWN_TO_ENGINES = (
    *("use_dora", "rank_pattern", "alpha_pattern", "lora_bias"),
    *("layer_replication", "target_parameters"),
)
"""Settings of LoRA by which vLLM computes otherwise, or not at all."""


class WeightsFolder:
    """A folder that servers read weights from, by its absolute `path`."""

    def __init__(self, path: str) -> None:
        self.path = Path(path).resolve()
        self._file = self.path / WEIGHTS_FILE
        self._version: tuple[int, int] | None = None
        self._adapters: list[tuple[tuple[int, int], Path]] = []  # of versions, the last one last

    def write(self, model: Any, version: tuple[int, int]) -> None:
        """Write a model's weights, unless the file has this version.

        All training processes take part, for those that are split must be gathered; the first one
        writes.
        """
        if from_first(lambda: version == self._version and self._file.is_file()):
            return
        weights = {name: weight.cpu().contiguous() for name, weight in named_weights(model)}
        from_first(lambda: self._save(weights))
        self._version = version

    def write_adapter(self, model: Any, version: tuple[int, int]) -> Path:
        """Write a model's adapter, unless there is one of this version, and return its folder.

        The last two are kept, for a server reads one again that it has dropped from memory.
        """
        return from_first(lambda: self._save_adapter(model, version))

    def _save_adapter(self, model: Any, version: tuple[int, int]) -> Path:
        if not self._adapters or self._adapters[-1][0] != version:
            folder = self.path / f"{_ADAPTER}{uuid4().hex}"
            model.save_pretrained(folder, save_embedding_layers=False)
            self._adapters.append((version, folder))
            for _, old in self._adapters[:-KEPT_ADAPTERS]:
                shutil.rmtree(old, ignore_errors=True)
            del self._adapters[:-KEPT_ADAPTERS]
        return self._adapters[-1][1]

    def _save(self, weights: dict[str, torch.Tensor]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        save_file(weights, self._file, metadata={"format": "pt"})


def weights_version(model: torch.nn.Module) -> int:
    """Return a number that changes whenever an optimizer or a checkpoint writes the weights."""
    return sum(parameter._version for parameter in model.parameters())


def servable_base(model: Any) -> str | None:
    """Return the model that an adapter belongs to, where an engine can add the adapter to it.

    None for anything else than one plain LoRA adapter on the weights of a folder or hub id: merged,
    reset or otherwise changed bases, DoRA, ranks and scales by layer, biases, further trained
    modules, adapted heads and embeddings, and weights that are split among processes.
    """
    if not isinstance(model, PeftModel) or len(model.active_adapters) != 1:
        return None
    config = model.peft_config[model.active_adapters[0]]
    base = model.get_base_model()
    is_plain = (
        config.peft_type == PeftType.LORA
        and config.bias == "none"
        and config.init_lora_weights in _KEEPING_THE_BASE
        and not any(getattr(config, name, None) for name in _UNKNOWN_TO_ENGINES)
        and not any(isinstance(part, AuxiliaryTrainingWrapper) for part in model.modules())
        and not any(
            isinstance(layer, BaseTunerLayer)
            for layer in (base.get_input_embeddings(), base.get_output_embeddings())
        )
        and all(is_whole(weight) for weight in model.parameters())
    )
    is_changed = getattr(base, "is_merged", False) or hasattr(base, "is_saved_beside")
    name = str(base.config._name_or_path)  # empty of a model that was made in memory
    return name if name and is_plain and not is_changed else None


def is_whole(weight: torch.Tensor) -> bool:
    """Return whether this process holds all of a parameter of any shape (...), unquantized."""
    return type(weight) is torch.nn.Parameter and not hasattr(weight, "ds_id")


def named_weights(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield each weight once, tied ones under their first name, adapters merged.

    They are tensors of any shape (...), as in a checkpoint. Where FSDP2 has split the weights, all
    processes must iterate together: each is gathered. Raises `ValueError` if the base is quantized,
    ZeRO-3 has split it, or an adapter cannot be merged.
    """
    for name, weight in _weights(model):
        yield name, _whole(name, weight)


def weight_shapes(model: Any) -> list[tuple[str, str, list[int]]]:
    """Return name, dtype and shape of the `named_weights`, without gathering them."""
    return [
        (name, str(weight.dtype).removeprefix("torch."), list(weight.shape))
        for name, weight in _weights(model)
    ]


def _weights(model: Any) -> Iterator[tuple[str, Any]]:
    if getattr(model, "is_quantized", False):
        raise ValueError(
            "a quantized policy's weights cannot be merged with its adapter without loss, so no "
            "other engine can sample from it; use `backend=hf`, or load the base unquantized"
        )
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    _check_tied(base)
    yield from _weights_of(base, "", set())


def _check_tied(model: Any) -> None:
    """Raise `ValueError` if an adapter has set apart a head and an embedding that are tied.

    An engine of the model's configuration has one weight for both.
    """
    embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
    if not getattr(model.config, "tie_word_embeddings", False) or head is None:
        return
    is_adapted = any(isinstance(layer, BaseTunerLayer) for layer in (embedding, head))
    if is_adapted or embedding.weight is not head.weight:
        raise ValueError(
            "the adapter sets the head and the embedding apart, which the model ties, so no other "
            "engine can sample from it; use `backend=hf`, or leave lm_head and embed_tokens out of "
            "`lora_target_modules` and `lora_modules_to_save`"
        )


def _weights_of(module: Any, prefix: str, seen: set[int]) -> Iterator[tuple[str, torch.Tensor]]:
    """Walk the modules, yielding each of the model's own parameters (`seen`) once."""
    if isinstance(module, BaseTunerLayer):
        with torch.no_grad():
            merged = copy.deepcopy(module)
            merged.merge(adapter_names=list(module.active_adapters))
        for name, parameter in merged.get_base_layer().named_parameters():
            yield prefix + name, parameter
        return
    if isinstance(module, ModulesToSaveWrapper):
        module = module.modules_to_save[module.active_adapters[0]]
    elif isinstance(module, AuxiliaryTrainingWrapper):
        raise ValueError(
            f"the adapter of {prefix.rstrip('.')} ({type(module).__name__}) cannot be merged into "
            f"its layer; use `backend=hf`"
        )
    for name, parameter in module.named_parameters(recurse=False):
        if id(parameter) not in seen:
            seen.add(id(parameter))
            yield prefix + name, parameter
    for name, child in module.named_children():
        yield from _weights_of(child, f"{prefix}{name}.", seen)


def _whole(name: str, weight: Any) -> torch.Tensor:
    if hasattr(weight, "ds_id"):
        raise ValueError(
            f"{name} is split by DeepSpeed ZeRO-3, which this backend does not gather; train "
            f"with ZeRO-2 or FSDP2"
        )
    whole = weight.full_tensor() if hasattr(weight, "full_tensor") else weight
    return whole.detach()
