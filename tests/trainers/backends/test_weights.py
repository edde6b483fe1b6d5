"""The weights that other engines are given: those the policy computes with, adapters merged."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import AutoModelForCausalLM

from tests.trainers.toys import make_model, make_tokenizer
from trainers.backends.weights import (
    named_weights,
    servable_base,
    weight_shapes,
    weights_version,
)
from trainers.models.loading import save_policy


def adapted(**options: Any) -> Any:
    config = LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "down_proj"])
    for name, value in options.items():
        setattr(config, name, value)
    model = get_peft_model(make_model(), config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn(parameter.shape) * 0.1)
    return model.eval()


def test_a_models_weights_go_by_their_checkpoint_names_tied_ones_once() -> None:
    model = make_model()
    found = dict(named_weights(model))
    assert list(found) == [name for name, _ in model.named_parameters()]
    assert "lm_head.weight" not in found
    assert all(torch.equal(found[name], value) for name, value in model.named_parameters())


@pytest.mark.parametrize(
    "options", [{}, {"use_dora": True}, {"modules_to_save": ["norm"]}], ids=str
)
def test_a_model_with_the_merged_weights_computes_what_the_adapted_one_does(
    options: dict[str, Any],
) -> None:
    model = adapted(**options)
    before = copy.deepcopy(model.state_dict())
    plain = make_model(seed=1)
    missing = plain.load_state_dict(dict(named_weights(model)), strict=False)
    assert missing.missing_keys == ["lm_head.weight"]
    assert missing.unexpected_keys == []
    ids = torch.arange(40)[None]
    with torch.no_grad():
        gap = (plain(ids).logits - model(ids).logits).abs().max()
        difference = (make_model()(ids).logits - model(ids).logits).abs().max()
    assert gap < 1e-5 < 0.01 < difference
    after = model.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


APART = [
    {"target_modules": ["q_proj", "lm_head"]},
    {"target_modules": ["q_proj", "embed_tokens"]},
    {"modules_to_save": ["lm_head"]},
    {"modules_to_save": ["embed_tokens"]},
]
TOLD_BY_PEFT = pytest.mark.filterwarnings("ignore::UserWarning")


@TOLD_BY_PEFT
@pytest.mark.parametrize("options", APART, ids=str)
def test_a_tied_head_that_an_adapter_sets_apart_goes_to_no_engine(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="`backend=hf`"):
        list(named_weights(adapted(**options)))


@TOLD_BY_PEFT
@pytest.mark.parametrize("options", [*APART, {}], ids=str)
def test_the_saved_model_is_the_trained_one(options: dict[str, Any], tmp_path: Path) -> None:
    model, ids = adapted(**options), torch.arange(40)[None]
    with torch.no_grad():
        expected = model(ids).logits
        save_policy(model, make_tokenizer(), tmp_path)
        found = AutoModelForCausalLM.from_pretrained(tmp_path)(ids).logits
    assert (found - expected).abs().max() < 1e-4


def test_no_engine_can_read_the_base_of_an_adapter_on_a_model_made_in_memory() -> None:
    model = adapted()
    assert servable_base(model) is None
    model.get_base_model().config._name_or_path = "org/base"
    assert servable_base(model) == "org/base"


def test_an_optimizer_step_and_a_loaded_checkpoint_make_a_new_version() -> None:
    model = make_model()
    first = weights_version(model)
    model(torch.arange(9)[None]).logits.sum().backward()
    assert weights_version(model) == first
    torch.optim.AdamW(model.parameters()).step()
    second = weights_version(model)
    model.load_state_dict(make_model().state_dict())
    assert len({first, second, weights_version(model)}) == 3


def test_weights_that_fsdp_has_split_are_gathered(tmp_path: Any) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1
    )
    try:
        model: Any = make_model()
        expected = {name: value.clone() for name, value in model.named_parameters()}
        fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
        shapes = weight_shapes(model)
        found = dict(named_weights(model))
        assert shapes == [(name, "float32", list(value.shape)) for name, value in found.items()]
        assert all(torch.equal(found[name], value) for name, value in expected.items())
        assert not any(hasattr(value, "full_tensor") for value in found.values())
    finally:
        torch.distributed.destroy_process_group()


def test_weights_that_cannot_be_handed_over_are_refused() -> None:
    model: Any = make_model()
    model.is_quantized = True
    with pytest.raises(ValueError, match="quantized .* use `backend=hf`"):
        next(named_weights(model))
    split: Any = make_model()
    split.model.norm.weight.ds_id = 3
    with pytest.raises(ValueError, match=r"model.norm.weight is split by DeepSpeed ZeRO-3"):
        dict(named_weights(split))
