"""Random models and small tokenizers in the styles of the families that people train."""

from __future__ import annotations

import re
from functools import lru_cache

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from trainers.tokens.chat import CHATML_TEMPLATE

_TURNS = (
    "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}"
    "{%- endfor %}"
)
_ASK = "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"

TEMPLATES = {
    "chatml": CHATML_TEMPLATE,
    "qwen2.5": (
        "{%- if messages[0].role != 'system' %}"
        "{{- '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}{%- endif %}"
        + _TURNS
        + _ASK
    ),
    "qwen3": (
        "{%- for m in messages %}{%- if m.role == 'assistant' %}"
        "{{- '<|im_start|>assistant\n' }}"
        "{%- if '<think>' not in m.content %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}"
        "{{- m.content + '<|im_end|>\n' }}"
        "{%- else %}{{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}"
        "{%- endif %}{%- endfor %}" + _ASK
    ),
    "qwen3-nothink": (
        "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\n' }}"
        "{%- if m.role == 'assistant' %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}"
        "{{- m.content + '<|im_end|>\n' }}{%- endfor %}"
        "{%- if add_generation_prompt %}"
        "{{- '<|im_start|>assistant\n<think>\n\n</think>\n\n' }}{%- endif %}"
    ),
    "llama3": (
        "{{- bos_token }}{%- for m in messages %}"
        "{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n' + m.content | trim"
        " + '<|eot_id|>' }}{%- endfor %}"
        "{%- if add_generation_prompt %}"
        "{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}"
    ),
    "gemma": (
        "{{- bos_token }}{%- for m in messages %}"
        "{%- if m.role == 'system' %}{{- raise_exception('no system role') }}{%- endif %}"
        "{{- '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\n'"
        " + m.content | trim + '<end_of_turn>\n' }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<start_of_turn>model\n' }}{%- endif %}"
    ),
}

FORGETS_THOUGHTS = (
    "{%- for m in messages %}{%- set c = m.content %}"
    "{%- if m.role == 'assistant' and not loop.last %}{%- set c = c.split('</think>')[-1] %}"
    "{%- endif %}{{- '<|im_start|>' + m.role + '\n' + c + '<|im_end|>\n' }}{%- endfor %}" + _ASK
)
COUNTS_TURNS = "{{- messages | length }} messages\n" + _TURNS + _ASK
KEEPS_LAST_ONLY = _TURNS.replace("messages", "messages[-2:]") + _ASK
WITHOUT_END = (
    "{%- for m in messages %}{{- '### ' + m.role + '\n' + m.content + '\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '### assistant\n' }}{%- endif %}"
)

_CORPUS = (
    "You see a red ball 2 steps in front of you and a locked door.\n\nGoal: craft oak planks.\n"
    "The counter is 3. Bring it to the goal; beyond the goal you have lost. move forward, turn left"
)


def tiny_tokenizer(template: str, *, seed_text: str = _CORPUS) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer with the special tokens that a template names."""
    own = set(re.findall(r"<\|[a-z_]+\|>|<(?:start|end)_of_turn>", template))
    specials = ["<|endoftext|>", "<|begin|>", *sorted(own | {"<|im_start|>", "<|im_end|>"})]
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.train_from_iterator(
        [seed_text] * 4,
        trainers.BpeTrainer(
            vocab_size=380,
            special_tokens=specials,
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token="<|endoftext|>",
        bos_token="<|begin|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=sorted(own),
    )
    tokenizer.add_tokens(["<think>", "</think>"])  # not special, as in Qwen3
    tokenizer.chat_template = template
    return tokenizer


@lru_cache
def tiny_model(
    family: str = "qwen3", *, vocab_size: int = 420, kv_heads: int = 2
) -> PreTrainedModel:
    """A random model of two layers whose distributions are far from uniform."""
    sizes = {
        "vocab_size": vocab_size,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": kv_heads,
        "max_position_embeddings": 4096,
    }
    generator_state = torch.random.get_rng_state()
    torch.manual_seed(0)
    if family == "qwen3":
        model = Qwen3ForCausalLM(Qwen3Config(**sizes, head_dim=8))
    elif family == "qwen2":
        model = Qwen2ForCausalLM(Qwen2Config(**sizes))
    elif family == "qwen2-sliding":
        layers = ["full_attention", "sliding_attention"]
        config = Qwen2Config(
            **sizes, use_sliding_window=True, sliding_window=24, layer_types=layers
        )
        model = Qwen2ForCausalLM(config)
    elif family == "llama":
        model = LlamaForCausalLM(LlamaConfig(**sizes))
    else:
        raise ValueError(f"unknown family {family!r}")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4 if parameter.ndim > 1 else 1)
        model.lm_head.weight.mul_(10)
    torch.random.set_rng_state(generator_state)
    return model


def forward_logprobs(
    model: PreTrainedModel, ids: list[int], temperature: float = 1.0
) -> torch.Tensor:
    """(T - 1,) logprobs of ids[1:] from one forward pass without cache, padding or batch."""
    model.eval()
    with torch.no_grad():
        logits = model(torch.tensor([ids]), use_cache=False).logits[0].float()
    logprobs = torch.log_softmax(logits[:-1] / temperature, -1)
    return logprobs.gather(-1, torch.tensor(ids[1:])[:, None])[:, 0]
