"""Random policies for vLLM, whose CPU build wants attention heads of 32 numbers or more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from tests.trainers.toys import make_tokenizer

_SIZES: dict[str, Any] = {
    "vocab_size": 260,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 1024,
    "eos_token_id": 256,
    "bos_token_id": None,
    "pad_token_id": 257,
}


def make_policy(family: str = "qwen3", seed: int = 0) -> Any:
    """Qwen3 with tied embeddings, or Qwen2 without and with sharper distributions."""
    torch.manual_seed(seed)
    if family == "qwen3":
        config = Qwen3Config(**_SIZES, head_dim=32, tie_word_embeddings=True)
        model: Any = Qwen3ForCausalLM(config)
    else:
        model = Qwen2ForCausalLM(Qwen2Config(**_SIZES, tie_word_embeddings=False))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(4)
        if family == "qwen2":
            model.lm_head.weight.mul_(3)
    return model.eval()


def save_policy(path: Path, family: str = "qwen3") -> str:
    """Save a policy and its tokenizer as a Hugging Face folder."""
    make_policy(family).save_pretrained(path)
    make_tokenizer().save_pretrained(path)
    return str(path)
