"""Dropout is off in every form that models have it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import (
    FalconConfig,
    FalconForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GraniteConfig,
    GraniteForCausalLM,
    OPTConfig,
    OPTForCausalLM,
)

from tests.trainers.toys import make_tokenizer
from trainers.models.dropout import disable_dropout
from trainers.trl_bridge.loss import GAP

RATE = 0.5
SIZES: dict[str, Any] = {"vocab_size": 512, "hidden_size": 32, "num_hidden_layers": 2}


def granite() -> Any:
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 64}
    config = GraniteConfig(**SIZES, **heads, attention_dropout=RATE)
    return GraniteForCausalLM(config)


def opt() -> Any:
    config = OPTConfig(
        **SIZES, num_attention_heads=2, ffn_dim=64, max_position_embeddings=64,
        word_embed_proj_dim=32, attention_dropout=RATE, dropout=RATE, layerdrop=RATE,
    )  # fmt: skip
    return OPTForCausalLM(config)


def falcon() -> Any:
    rates = {"attention_dropout": RATE, "hidden_dropout": RATE}
    return FalconForCausalLM(FalconConfig(**SIZES, num_attention_heads=2, **rates))


def gpt2() -> Any:
    return GPT2LMHeadModel(GPT2Config(vocab_size=512, n_embd=32, n_layer=2, n_head=2))


@pytest.mark.parametrize("make", [granite, opt, falcon, gpt2])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_a_model_in_training_mode_computes_as_in_evaluation_mode(
    make: Callable[[], Any], attention: str
) -> None:
    torch.manual_seed(0)
    model = make()
    model.set_attn_implementation(attention)
    before = model.config.to_dict()
    ids = torch.arange(16)[None]
    expected = model.eval()(ids).logits
    assert not torch.equal(model.train()(ids).logits, expected), "it has dropout"
    disable_dropout(model, None)
    for _ in range(4):
        assert torch.equal(model.train()(ids).logits, expected)
    assert model.config.to_dict() == before, "what is saved stays as it was"


@pytest.mark.parametrize("disabled", [True, False])
def test_a_trainer_turns_attention_dropout_off_unless_told_otherwise(
    trainer_in: Callable[..., Any], disabled: bool
) -> None:
    torch.manual_seed(0)
    model = granite()
    model.resize_token_embeddings(len(make_tokenizer()))
    trainer = trainer_in(model=model, max_steps=1, disable_dropout=disabled)
    trainer.train()
    gap = trainer.state.log_history[0][f"{GAP}/mean"]
    assert (gap < 1e-4) == disabled
