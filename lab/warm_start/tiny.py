"""`tiny`: a from-scratch policy of about a million parameters that runs anywhere.

Qwen3's architecture at toy size, a tokenizer of bytes and whole words, and a chat template that
only ever appends. Saved as an ordinary Hugging Face folder, so nothing else needs to know of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

SPECIAL_TOKENS = ("<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>")
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def build_tokenizer(units: Iterable[str]) -> PreTrainedTokenizerFast:
    """Build a tokenizer that knows `units` as one token each and spells all else in bytes.

    Any text comes back unchanged from decoding. Units may hold spaces: with an item's name as one
    token, copying the name is one step of attention instead of several, which is what lets a policy
    of this size learn to copy from its context at all.

    Args:
        units: texts that become single tokens; the longest match wins, and a unit that begins or
            ends in a letter or digit matches only where the word begins or ends.
    """
    units = list(dict.fromkeys(units))
    alphabet = _byte_alphabet()
    tokens = [
        *SPECIAL_TOKENS,
        *(alphabet[byte] for byte in range(256)),
        *("".join(alphabet[byte] for byte in unit.encode()) for unit in units),
    ]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    # No merges: a unit is split off whole and looked up (ignore_merges), the rest is bytes.
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=[], ignore_merges=True))
    pattern = "|".join(map(_unit_pattern, sorted(units, key=lambda unit: (-len(unit), unit))))
    tokenizer.pre_tokenizer = Sequence(
        [
            Split(Regex(pattern or "(?!)"), "isolated"),
            ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = ByteLevelDecoder()
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|pad|>",
        eos_token="<|end|>",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=4096,
    )


def build_model(
    vocabulary_size: int,
    *,
    hidden_size: int = 128,
    num_layers: int = 4,
    num_heads: int = 4,
    head_dim: int = 64,
    seed: int = 0,
) -> Qwen3ForCausalLM:
    """Build the randomly initialised policy, in float32.

    Args:
        vocabulary_size: number of tokens.
        hidden_size: width of the residual stream.
        num_layers: transformer layers.
        num_heads: query heads; two share one key/value head.
        head_dim: width of a head. Wider than hidden_size / num_heads on purpose: one head must tell
            some thirty items of a prompt apart.
        seed: of the initialisation.
    """
    config = Qwen3Config(
        vocab_size=vocabulary_size,
        hidden_size=hidden_size,
        intermediate_size=3 * hidden_size,
        num_hidden_layers=num_layers,
        num_attention_heads=num_heads,
        num_key_value_heads=num_heads // 2,
        head_dim=head_dim,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        pad_token_id=SPECIAL_TOKENS.index("<|pad|>"),
        eos_token_id=SPECIAL_TOKENS.index("<|end|>"),
        bos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config)


def save_tiny(
    folder: str | Path, model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast
) -> None:
    """Save policy and tokenizer as a Hugging Face folder with safetensors."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _unit_pattern(unit: str) -> str:
    before = "(?<![A-Za-z0-9])" if unit[0].isalnum() else ""
    after = "(?![A-Za-z0-9])" if unit[-1].isalnum() else ""
    return before + re.escape(unit) + after


def _byte_alphabet() -> dict[int, str]:
    """Map bytes to the characters of GPT-2's byte-level alphabet, which `ByteLevel` uses."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {
        byte: chr(256 + place) for place, byte in enumerate(others)
    }
