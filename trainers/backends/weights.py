"""A policy's weights under the names of its checkpoint, to be copied into another engine.

The policy itself is not touched: adapters are merged into copies of single layers, so the base does
not drift by being merged and unmerged.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils.other import AuxiliaryTrainingWrapper, ModulesToSaveWrapper


def weights_version(model: torch.nn.Module) -> int:
    """Return a number that changes whenever an optimizer or a checkpoint writes the weights."""
    return sum(parameter._version for parameter in model.parameters())


def named_weights(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield each weight once, tied ones under their first name, adapters merged.

    Where FSDP2 has split the weights, all processes must iterate together: each is gathered.

    Args:
        model: a `PreTrainedModel` or a `PeftModel` around one.

    Raises:
        ValueError: the base is quantized, ZeRO-3 has split it, or an adapter cannot be merged.
    """
    if getattr(model, "is_quantized", False):
        raise ValueError(
            "a quantized policy's weights cannot be merged with its adapter without loss, so no "
            "other engine can sample from it; use --backend hf, or load the base unquantized"
        )
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    for name, weight in _weights_of(base, "", set()):
        yield name, _whole(name, weight)


def _weights_of(module: Any, prefix: str, seen: set[int]) -> Iterator[tuple[str, torch.Tensor]]:
    """Walk the modules; `seen` holds the ids of the model's own parameters passed so far."""
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
            f"its layer; use --backend hf"
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
            f"{name} is split by DeepSpeed ZeRO-3, which this backend does not gather; use "
            f"--backend hf, ZeRO-2 or FSDP2"
        )
    whole = weight.full_tensor() if hasattr(weight, "full_tensor") else weight
    return whole.detach()
