"""`smollm2`: SmolLM2-135M-Instruct, turned from llama.cpp's format into a Hugging Face folder.

The weights are those of a quantized file: each is its scale times one of 16 levels, plus the least
weight of its block. What the file leaves open is as in the model's own repository: digits are
tokens of their own, and the end-of-turn token ends a generation.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import GenerationConfig, LlamaConfig, PreTrainedTokenizerFast

from trainers.models.gguf import Floats, GGUFFile

_CONTROL = 3
"""GGUF's type of tokens that are no text."""
_PAD, _START, _END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"

_PARTS = {
    "token_embd": "embed_tokens",
    "output_norm": "norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""GGUF's names of a Llama's parts -> transformers'."""
_NAME = re.compile(r"(?:blk\.(\d+)\.)?(\w+)\.weight")


def save_as_folder(content: bytes, folder: str | Path) -> None:
    """Write the model of a GGUF file as a Hugging Face folder, in bfloat16.

    Args:
        content: the bytes of a Llama's GGUF file with ChatML tokens.
        folder: is there already.

    Raises:
        ValueError: the file is of another kind.
    """
    source = GGUFFile(content)
    tokenizer = _tokenizer(source.metadata)
    ids = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    config = _config(source.metadata, ids)
    config.save_pretrained(folder)
    GenerationConfig(**ids).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    weights = {
        _transformers_name(name): torch.from_numpy(_in_halves(name, tensor, config)).bfloat16()
        for name, tensor in source.tensors()
    }
    (Path(folder) / "model.safetensors").write_bytes(save(weights, {"format": "pt"}))


def _config(metadata: dict[str, Any], ids: dict[str, int]) -> LlamaConfig:
    own = {key.removeprefix("llama."): value for key, value in metadata.items()}
    return LlamaConfig(
        architectures=["LlamaForCausalLM"],
        dtype="bfloat16",
        vocab_size=own["vocab_size"],
        hidden_size=own["embedding_length"],
        intermediate_size=own["feed_forward_length"],
        num_hidden_layers=own["block_count"],
        num_attention_heads=own["attention.head_count"],
        num_key_value_heads=own["attention.head_count_kv"],
        max_position_embeddings=own["context_length"],
        # float32's neighbour of a number that was meant: 1e-05
        rms_norm_eps=float(f"{own['attention.layer_norm_rms_epsilon']:.6g}"),
        rope_parameters={"rope_type": "default", "rope_theta": own["rope.freq_base"]},
        tie_word_embeddings=True,
        **ids,
    )


def _tokenizer(metadata: dict[str, Any]) -> PreTrainedTokenizerFast:
    own = {key.removeprefix("tokenizer.ggml."): value for key, value in metadata.items()}
    if own["model"] != "gpt2" or own["pre"] != "smollm":
        raise ValueError(
            f"SmolLM2's tokenizer is gpt2 with smollm's splitting, got {own['model']} with "
            f"{own['pre']}"
        )
    vocabulary = {token: number for number, token in enumerate(own["tokens"])}
    merges = [tuple(merge.split(" ")) for merge in own["merges"]]
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = Sequence(
        [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = ByteLevelDecoder()
    control = [own["tokens"][i] for i, kind in enumerate(own["token_type"]) if kind == _CONTROL]
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in control]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=_START,
        eos_token=_END,
        unk_token=_PAD,
        pad_token=_PAD,
        chat_template=metadata["tokenizer.chat_template"],
        clean_up_tokenization_spaces=False,
        model_max_length=metadata["llama.context_length"],
    )


def _transformers_name(name: str) -> str:
    match = _NAME.fullmatch(name)
    if match is None or match[2] not in _PARTS:
        raise ValueError(f"{name} is no part of a Llama with tied embeddings")
    layer = "" if match[1] is None else f"layers.{match[1]}."
    return f"model.{layer}{_PARTS[match[2]]}.weight"


def _in_halves(name: str, tensor: Floats, config: LlamaConfig) -> Floats:
    """Return a tensor in transformers' order of rows.

    Rotary embeddings turn pairs of a head's rows: (0, 1), (2, 3) and so on in GGUF, and in
    transformers each of the first half with one of the second.
    """
    heads = {
        "attn_q": config.num_attention_heads,
        "attn_k": config.num_key_value_heads,
    }.get(name.split(".")[-2])
    if heads is None:
        return tensor.copy()  # what lies in a file's bytes cannot be written to
    rows, columns = tensor.shape
    pairs = tensor.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)
