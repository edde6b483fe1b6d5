"""LoRA layers that add their adapters' products to the base's in place.

They stand in for peft's while turns are sampled, where one token after the other is computed: peft
scales and adds in operations of their own, and reads each layer's settings again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from peft.tuners.lora.layer import Linear, LoraLayer
from torch.nn import functional

from trainers.backends.weights import is_whole


@contextmanager
def adapters_for_sampling(model: torch.nn.Module, dtype: torch.dtype) -> Iterator[None]:
    """Replace the forward pass of a model's LoRA layers in this block, for passes in `dtype`.

    Layers beyond plain LoRA (DoRA, biases, a quantized base, weights that are split over processes)
    keep peft's.
    """
    layers = [
        layer
        for layer in model.modules()
        if isinstance(layer, LoraLayer) and _is_plain(layer, dtype)
    ]
    try:
        for layer in layers:
            layer.forward = _forward_of(layer, dtype)
        yield
    finally:
        for layer in layers:
            layer.__dict__.pop("forward", None)


def _is_plain(layer: LoraLayer, dtype: torch.dtype) -> bool:
    if type(layer) is not Linear or type(layer.get_base_layer()) is not torch.nn.Linear:
        return False
    if layer.disable_adapters or layer.merged or "forward" in layer.__dict__:
        return False
    is_variant = any(name in layer.lora_variant for name in layer.active_adapters)
    has_bias = any(up.bias is not None for up in layer.lora_B.values())
    weights = list(layer.parameters())
    is_lowered = torch.is_autocast_enabled(weights[0].device.type)
    in_one_dtype = all(weight.dtype == dtype for weight in weights)
    is_simple = not is_variant and not has_bias and all(map(is_whole, weights))
    return is_simple and (is_lowered or in_one_dtype)


def _forward_of(layer: Linear, dtype: torch.dtype) -> Callable[[torch.Tensor], torch.Tensor]:
    base = layer.get_base_layer()
    adapters = [
        (
            layer.lora_A[name].weight.to(dtype),
            layer.lora_B[name].weight.to(dtype).t(),
            layer.scaling[name],
        )
        for name in layer.active_adapters
        if name in layer.lora_A
    ]

    def forward(x: torch.Tensor) -> torch.Tensor:
        x = x.to(dtype)
        result: torch.Tensor = base(x)
        products = result.view(-1, result.shape[-1])
        for down, up, scaling in adapters:
            products.addmm_(functional.linear(x, down).view(-1, len(down)), up, alpha=scaling)
        return result

    return forward
