"""LoRA layers while turns are sampled."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from peft.tuners.lora.layer import LoraLayer
from torch.utils._python_dispatch import TorchDispatchMode

from tests.trainers.tiny_models import tiny_model
from trainers.backends.adapters import adapters_for_sampling
from trainers.backends.row_model import RowModel

IDS = torch.arange(20, 40)[None]
BF16 = partial(torch.autocast, "cpu", torch.bfloat16)


def adapted(dtype: torch.dtype = torch.float32, **options: Any) -> Any:
    config = LoraConfig(
        **{"r": 4, "target_modules": "all-linear", "init_lora_weights": False, **options}
    )
    torch.manual_seed(0)
    return get_peft_model(copy.deepcopy(tiny_model("qwen2")).to(dtype), config).eval()


def replaced(model: Any) -> int:
    return sum("forward" in layer.__dict__ for layer in model.modules())


def layers(model: Any) -> int:
    return sum(isinstance(layer, LoraLayer) for layer in model.modules())


@torch.no_grad()
def test_logits_are_pefts_where_all_is_float32() -> None:
    model = adapted()
    expected = model(IDS).logits
    with model.disable_adapter():
        assert not torch.allclose(model(IDS).logits, expected, atol=1e-2)
    with adapters_for_sampling(model, torch.float32):
        assert replaced(model) == layers(model) > 0
        logits = model(IDS).logits
    assert replaced(model) == 0
    torch.testing.assert_close(logits, expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_logits_under_autocast_are_as_near_to_float32s_as_pefts() -> None:
    model = adapted(torch.bfloat16)
    exact = copy.deepcopy(model).float()(IDS).logits
    with BF16():
        pefts = model(IDS).logits
        with adapters_for_sampling(model, torch.bfloat16):
            assert replaced(model) == layers(model)
            ours = model(IDS).logits
    assert (ours - exact).abs().mean() < 1.2 * (pefts - exact).abs().mean()


@torch.no_grad()
def test_all_active_adapters_are_added_each_at_its_scale() -> None:
    model = adapted()
    further = LoraConfig(
        r=2, lora_alpha=7, target_modules=["q_proj", "down_proj"], init_lora_weights=False
    )
    model.add_adapter("second", further)
    model.base_model.set_adapter(["default", "second"])
    expected = model(IDS).logits
    with adapters_for_sampling(model, torch.float32):
        torch.testing.assert_close(model(IDS).logits, expected, rtol=1e-5, atol=1e-5)
    model.set_adapter("second")
    expected = model(IDS).logits
    with adapters_for_sampling(model, torch.float32):
        torch.testing.assert_close(model(IDS).logits, expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        (torch.float32, {"use_dora": True}),
        (torch.float32, {"target_modules": ["q_proj", "v_proj"], "lora_bias": True}),
        (torch.bfloat16, {}),  # without autocast peft raises what goes into the adapter
    ],
    ids=["dora", "bias", "two dtypes"],
)
def test_layers_that_are_more_than_plain_lora_keep_pefts(
    dtype: torch.dtype, options: dict[str, Any]
) -> None:
    model = adapted(dtype, **options)
    for name, weight in model.named_parameters():
        if "lora_" in name:
            weight.data = weight.data.float()
    expected = model(IDS).logits
    with adapters_for_sampling(model, model.dtype):
        assert replaced(model) == 0
        assert torch.equal(model(IDS).logits, expected)


@torch.no_grad()
def test_an_adapter_that_is_switched_off_stays_off() -> None:
    model = adapted()
    with model.disable_adapter():
        expected = model(IDS).logits
        with adapters_for_sampling(model, torch.float32):
            assert torch.equal(model(IDS).logits, expected)


def test_layers_are_given_back_after_an_error() -> None:
    model = adapted()
    with pytest.raises(KeyError), adapters_for_sampling(model, torch.float32):
        raise KeyError
    assert replaced(model) == 0


def test_under_autocast_frozen_weights_are_lowered_once_and_stay_frozen() -> None:
    model = adapted()
    layer = model.get_submodule("base_model.model.model.layers.0.mlp.up_proj.base_layer")
    casts = Casts()
    with RowModel(model, BF16).sampling(), casts:
        for _ in range(3):
            layer(torch.ones(1, layer.in_features))
    assert casts.of.count(layer.weight.data_ptr()) == 1
    assert not layer.weight.requires_grad


class Casts(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes where the values lay that were cast to another dtype."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.of: list[int] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten._to_copy.default:
            self.of.append(args[0].data_ptr())
        return func(*args, **(kwargs or {}))
