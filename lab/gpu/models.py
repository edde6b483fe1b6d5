"""Models of Qwen2.5's shapes with random weights, for machines without network.

The numbers are those of Qwen2.5-0.5B's and 3B's `config.json`. The tokenizer has a token for each
word of the environment's texts, so that histories are about as long as under the real one, and
the model has Qwen's 151,936 rows all the same: what an id beyond the tokenizer's stands for is no
text, and costs what any other id does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from agentgym_envs.content.files import atomic_folder
from lab.throughput.rollouts import expert_completions, prompts, word_tokenizer


@dataclass(frozen=True)
class Shape:
    """The shape of a model.

    Attributes:
        name: in tables.
        hidden: width.
        layers: how many.
        heads: of queries.
        groups: heads of keys and values.
        mlp: width within a layer's MLP.
        vocabulary: tokens; the embedding is the output layer, too.
    """

    name: str
    hidden: int
    layers: int
    heads: int
    groups: int
    mlp: int
    vocabulary: int = 151_936


FULL = (
    Shape("0.5B", hidden=896, layers=24, heads=14, groups=2, mlp=4864),
    Shape("3B", hidden=2048, layers=36, heads=16, groups=2, mlp=11008),
)
SMALL = (
    Shape("0.5B in small", 64, 2, 2, 1, 128, vocabulary=8192),
    Shape("3B in small", 96, 3, 3, 1, 192, vocabulary=8192),
)
"""Shapes for a rehearsal, as vLLM's CPU build has no heads narrower than 32."""


def shapes(*, small: bool) -> tuple[Shape, Shape]:
    """Return the two shapes that are measured."""
    return SMALL if small else FULL


def model_folder(shape: Shape, parent: Path) -> Path:
    """Return the folder of a bfloat16 model with its tokenizer, making it if missing.

    Args:
        shape: the model's.
        parent: holds such folders.
    """
    folder = parent / shape.name.replace(" ", "_")
    if not folder.is_dir():
        with atomic_folder(folder) as draft:
            tokenizer = build_tokenizer()
            random_model(shape, tokenizer).save_pretrained(draft)
            tokenizer.save_pretrained(draft)
    return folder


def random_model(shape: Shape, tokenizer: Any) -> Qwen2ForCausalLM:
    """Return a random bfloat16 model on the GPU, or on the CPU without one."""
    torch.manual_seed(0)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        return Qwen2ForCausalLM(config_of(shape, tokenizer)).bfloat16().eval()


def config_of(shape: Shape, tokenizer: Any) -> Qwen2Config:
    """Return the configuration of a model with a tokenizer's special tokens."""
    return Qwen2Config(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.groups,
        intermediate_size=shape.mlp,
        tie_word_embeddings=True,
        max_position_embeddings=32_768,
        rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        dtype="bfloat16",
    )


def build_tokenizer() -> Any:
    """Return the tokenizer of TextCraft's texts."""
    completions = expert_completions(16)
    texts = [text for task in completions.values() for text in task]
    return word_tokenizer([*texts, *prompts(completions)])
