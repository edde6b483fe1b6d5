from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tests.trainers.models.gguf_files import llama_gguf, small_llama
from trainers.models.smollm2 import save_as_folder
from trainers.tokens.chat import ChatFormat


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("converted")
    save_as_folder(llama_gguf(small_llama()), folder)
    return folder


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(folder)


def test_the_converted_model_computes_what_the_one_that_was_written_does(folder: Path) -> None:
    model, report = AutoModelForCausalLM.from_pretrained(
        folder, dtype="float32", output_loading_info=True
    )
    assert {name: list(keys) for name, keys in report.items() if keys} == {}
    ids = torch.arange(5, 45)[None]
    with torch.no_grad():
        expected, actual = (m(ids).logits for m in (small_llama(), model.eval()))
    torch.testing.assert_close(actual, expected)


def test_the_end_of_a_turn_ends_a_generation_and_padding_is_another_token(
    folder: Path, tokenizer: Any
) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert (model.config.eos_token_id, model.config.pad_token_id) == (2, 0)
    assert (model.generation_config.eos_token_id, model.generation_config.pad_token_id) == (2, 0)
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|endoftext|>")
    assert ChatFormat.from_tokenizer(tokenizer).stop_ids[0] == 2


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a12", ["a", "1", "2"]),  # though a merge would make 12 one token
        ("the\n\n3", ["the", "\n\n", "3"]),  # what splits words only would give \n and \n3
        ("x  4", ["x", "  ", "4"]),
        ("é<|im_end|>\n", ["Ã", "©", "<|im_end|>", "\n"]),
    ],
)
def test_digits_are_tokens_of_their_own(tokenizer: Any, text: str, pieces: list[str]) -> None:
    ids = tokenizer(text).input_ids
    alphabet = {"\n": "Ċ", " ": "Ġ"}
    written = ["".join(alphabet.get(c, c) for c in piece) for piece in pieces]
    assert tokenizer.convert_ids_to_tokens(ids) == written
    assert tokenizer.decode(ids) == text


def test_another_tokenizer_is_refused(tmp_path: Path) -> None:
    content = llama_gguf(small_llama()).replace(b"smollm", b"qwen-2")
    with pytest.raises(ValueError, match="got gpt2 with qwen-2"):
        save_as_folder(content, tmp_path)


def test_a_part_that_a_llama_lacks_is_refused(tmp_path: Path) -> None:
    content = llama_gguf(small_llama()).replace(b"output_norm.weight", b"output_norm.biases")
    with pytest.raises(ValueError, match=r"output_norm.biases is no part of a Llama"):
        save_as_folder(content, tmp_path)
