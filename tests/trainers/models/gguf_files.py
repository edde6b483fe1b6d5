"""Writes GGUF files: the format as llama.cpp's specification has it, version 3."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import LlamaConfig, LlamaForCausalLM

F32, Q4_1, Q8_0 = 0, 3, 8
CHATML = (
    "{% for message in messages %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGES = ("Ċ Ċ", "Ġ Ġ", "1 2", "t h", "th e")
Tensor = tuple[int, tuple[int, ...], bytes]
"""A quantization, a shape in torch's order, and the bytes."""


def gguf_bytes(metadata: dict[str, Any], tensors: dict[str, Tensor], *, version: int = 3) -> bytes:
    """Return a GGUF file."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, value in metadata.items():
        head += _text(key) + _value(value)
    body = b""
    for name, (kind, shape, content) in tensors.items():
        body += b"\0" * (-len(body) % 32)
        head += _text(name) + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += struct.pack("<IQ", kind, len(body))
        body += content
    return head + b"\0" * (-len(head) % 32) + body


def small_llama() -> LlamaForCausalLM:
    """Return a random model whose heads differ, in numbers that bfloat16 holds."""
    vocabulary = len(SPECIALS) + 256 + len(MERGES)
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary + -vocabulary % 32,
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=256,
            rms_norm_eps=1e-5,
            rope_parameters={"rope_type": "default", "rope_theta": 1e5},
            tie_word_embeddings=True,
        )
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((torch.randn_like(parameter) / 4).bfloat16())
    return model.eval()


def llama_gguf(model: LlamaForCausalLM) -> bytes:
    """Return a model as llama.cpp's converter writes it, unquantized."""
    config = model.config
    state = model.state_dict()
    tensors = {"token_embd.weight": _f32(state["model.embed_tokens.weight"])}
    for n in range(config.num_hidden_layers):
        layer = f"model.layers.{n}."
        query, key = (state[f"{layer}self_attn.{name}_proj.weight"] for name in "qk")
        tensors |= {
            f"blk.{n}.attn_norm.weight": _f32(state[f"{layer}input_layernorm.weight"]),
            f"blk.{n}.ffn_down.weight": _f32(state[f"{layer}mlp.down_proj.weight"]),
            f"blk.{n}.ffn_gate.weight": _f32(state[f"{layer}mlp.gate_proj.weight"]),
            f"blk.{n}.ffn_up.weight": _f32(state[f"{layer}mlp.up_proj.weight"]),
            f"blk.{n}.ffn_norm.weight": _f32(state[f"{layer}post_attention_layernorm.weight"]),
            f"blk.{n}.attn_k.weight": _f32(_permuted(key, config.num_key_value_heads)),
            f"blk.{n}.attn_output.weight": _f32(state[f"{layer}self_attn.o_proj.weight"]),
            f"blk.{n}.attn_q.weight": _f32(_permuted(query, config.num_attention_heads)),
            f"blk.{n}.attn_v.weight": _f32(state[f"{layer}self_attn.v_proj.weight"]),
        }
    tensors["output_norm.weight"] = _f32(state["model.norm.weight"])
    tokens = [*SPECIALS, *sorted(ByteLevel.alphabet()), *(m.replace(" ", "") for m in MERGES)]
    tokens += [f"<unused {n}>" for n in range(config.vocab_size - len(tokens))]
    metadata = {
        "general.architecture": "llama",
        "llama.block_count": config.num_hidden_layers,
        "llama.context_length": config.max_position_embeddings,
        "llama.embedding_length": config.hidden_size,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.attention.head_count": config.num_attention_heads,
        "llama.attention.head_count_kv": config.num_key_value_heads,
        "llama.rope.freq_base": 1e5,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.vocab_size": config.vocab_size,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if token in SPECIALS else 1 for token in tokens],
        "tokenizer.ggml.merges": list(MERGES),
        "tokenizer.chat_template": CHATML,
    }
    return gguf_bytes(metadata, tensors)


def _permuted(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Return rows in GGUF's order, by the formula of llama.cpp's converter."""
    halves = weight.reshape(heads, 2, weight.shape[0] // heads // 2, weight.shape[1])
    return halves.swapaxes(1, 2).reshape(weight.shape)


def _f32(tensor: torch.Tensor) -> Tensor:
    return F32, tuple(tensor.shape), tensor.numpy().astype("<f4").tobytes()


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    kind, items = (8, map(_text, value)) if isinstance(value[0], str) else (4, _numbers(value))
    return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(items)


def _numbers(values: list[int]) -> list[bytes]:
    return [np.uint32(value).tobytes() for value in values]
