"""Writes small models as GGUF files, with the names and the order of rows of llama.cpp's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from gguf import GGMLQuantizationType, GGUFWriter, TokenType, quantize
from tokenizers.pre_tokenizers import ByteLevel
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

CHATML = (
    "{% for message in messages %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGES = ("Ċ Ċ", "Ġ Ġ", "1 2", "t h", "th e")
SIZES: dict[str, Any] = {
    "vocab_size": 288,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e5},
}
PARTS = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.down_proj": "ffn_down",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "self_attn.k_proj": "attn_k",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_proj": "attn_q",
    "self_attn.v_proj": "attn_v",
}
F32 = GGMLQuantizationType.F32


def small_llama() -> LlamaForCausalLM:
    """Return a random model whose heads differ, in numbers that bfloat16 holds."""
    config = LlamaConfig(**SIZES, rms_norm_eps=1e-5, tie_word_embeddings=True)
    return _random(LlamaForCausalLM(config))


def small_qwen2(*, tied: bool = True) -> Qwen2ForCausalLM:
    """Return a random model with biases."""
    config = Qwen2Config(**SIZES, rms_norm_eps=1e-6, tie_word_embeddings=tied)
    return _random(Qwen2ForCausalLM(config))


def _random(model: Any) -> Any:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((torch.randn(parameter.shape, generator=generator) / 4).bfloat16())
    return model.eval()


def gguf_bytes(
    model: Any,
    *,
    quantizations: Mapping[str, GGMLQuantizationType] | None = None,
    pre: str = "smollm",
    padding: int | None = 2,
    left_out: str = "",
    architecture: str = "",
) -> bytes:
    """Return a model as a GGUF file.

    Args:
        model: a Llama or a Qwen2 with `SIZES`.
        quantizations: by the name of a tensor, or its end; others are float32. The head is a tensor
            of its own where it is named.
        pre: how the tokenizer splits words.
        padding: the padding token; None writes none.
        left_out: a tensor that is not written.
        architecture: its name in the file, in place of the model's.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        writer = GGUFWriter(path, architecture or model.config.model_type)
        _add_metadata(writer, model.config, pre, padding)
        for name, tensor in _tensors(model, has_head="output.weight" in (quantizations or {})):
            if name == left_out:
                continue
            kinds = [kind for end, kind in (quantizations or {}).items() if name.endswith(end)]
            kind = kinds[0] if kinds else F32
            writer.add_tensor(name, quantize(tensor.numpy(), kind), raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path.read_bytes()


def _add_metadata(writer: GGUFWriter, config: Any, pre: str, padding: int | None) -> None:
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    tokens = [*SPECIALS, *sorted(ByteLevel.alphabet()), *(m.replace(" ", "") for m in MERGES)]
    tokens += [f"<unused {n}>" for n in range(config.vocab_size - len(tokens))]
    kinds = [TokenType.CONTROL if token in SPECIALS else TokenType.NORMAL for token in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    if padding is not None:
        writer.add_pad_token_id(padding)
    writer.add_chat_template(CHATML)


def _tensors(model: Any, *, has_head: bool) -> list[tuple[str, torch.Tensor]]:
    config, state = model.config, model.state_dict()
    tensors = [("token_embd.weight", state["model.embed_tokens.weight"])]
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for n in range(config.num_hidden_layers):
        for ours, theirs in PARTS.items():
            for end in ("weight", "bias"):
                tensor = state.get(f"model.layers.{n}.{ours}.{end}")
                if tensor is None:
                    continue
                if theirs in heads and config.model_type == "llama":
                    tensor = _permuted(tensor, heads[theirs])
                tensors.append((f"blk.{n}.{theirs}.{end}", tensor))
    tensors.append(("output_norm.weight", state["model.norm.weight"]))
    if has_head or not config.tie_word_embeddings:
        tensors.append(("output.weight", state["lm_head.weight"]))
    return tensors


def _permuted(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Return rows in GGUF's order, by the formula of llama.cpp's converter."""
    halves = weight.reshape(heads, 2, weight.shape[0] // heads // 2, weight.shape[1])
    return halves.swapaxes(1, 2).reshape(weight.shape)
