"""A GGUF file is a model like another: weights, tokenizer and tokens as they were written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import GGMLQuantizationType, dequantize, quantize
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.cli import main as cli
from benchmarks.sweep.fingerprints import policy_fingerprint
from tests.trainers.models.gguf_files import gguf_bytes, small_llama, small_qwen2
from tests.trainers.toys import ENV_ID
from trainers.models.gguf import save_as_folder
from trainers.models.loading import load_policy, resolve_model
from trainers.options.configs import ModelArguments
from trainers.options.errors import UsageError
from trainers.tokens.chat import ChatFormat

F16, Q4_1, Q5_0, Q8_0 = (
    getattr(GGMLQuantizationType, name) for name in "F16 Q4_1 Q5_0 Q8_0".split()
)
IDS = torch.arange(5, 45)[None]


def convert(content: bytes, folder: Path, **options: Any) -> Path:
    """Return the folder that a file's content becomes."""
    file = folder / "small.gguf"
    file.write_bytes(content)
    (folder / "converted").mkdir()
    save_as_folder(file, folder / "converted", **options)
    return folder / "converted"


def loaded(folder: Path) -> Any:
    """Return a folder's model in float32, which lacks nothing."""
    model, report = AutoModelForCausalLM.from_pretrained(
        folder, dtype="float32", output_loading_info=True
    )
    assert {name: list(keys) for name, keys in report.items() if keys} == {}
    return model.eval()


def stored_dtype(folder: Path) -> str:
    return str(json.loads((folder / "config.json").read_text())["dtype"])


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen2, not tied"])
@pytest.mark.parametrize("quantizations", [{}, {"proj.weight": F16}])
def test_an_unquantized_file_gives_the_model_that_was_written(
    family: str, quantizations: dict[str, Any], tmp_path: Path
) -> None:
    original: Any = small_llama() if family == "llama" else small_qwen2(tied=family == "qwen2")
    folder = convert(gguf_bytes(original, quantizations=quantizations), tmp_path)
    model = loaded(folder)
    with torch.no_grad():
        torch.testing.assert_close(model(IDS).logits, original(IDS).logits)
    assert stored_dtype(folder) == "float32"
    assert model.config.tie_word_embeddings == original.config.tie_word_embeddings
    assert model.config.rms_norm_eps == original.config.rms_norm_eps
    assert model.config.max_position_embeddings == 256


def test_quantized_weights_are_bfloat16_and_one_matrix_in_two_quantizations_is_shared(
    tmp_path: Path,
) -> None:
    original = small_qwen2()
    kinds = {"output.weight": Q8_0, "token_embd.weight": Q5_0, "attn_q.weight": Q4_1}
    folder = convert(gguf_bytes(original, quantizations=kinds, pre="qwen2", padding=0), tmp_path)
    model = loaded(folder)
    assert stored_dtype(folder) == "bfloat16"
    assert model.config.tie_word_embeddings
    assert model.lm_head.weight is model.model.embed_tokens.weight
    for name, kind in (("lm_head", Q8_0), ("model.layers.1.self_attn.q_proj", Q4_1)):
        written = original.get_submodule(name).weight.detach().numpy()
        weights = torch.from_numpy(dequantize(quantize(written, kind), kind)).bfloat16().float()
        assert torch.equal(model.get_submodule(name).weight, weights)
    assert torch.equal(
        model.model.layers[0].self_attn.k_proj.bias, original.model.layers[0].self_attn.k_proj.bias
    )


@pytest.mark.parametrize(("padding", "expected"), [(0, 0), (2, 2), (None, 2)])
def test_end_and_padding_tokens_are_the_files(
    padding: int | None, expected: int, tmp_path: Path
) -> None:
    folder = convert(gguf_bytes(small_llama(), padding=padding), tmp_path)
    model, tokenizer = loaded(folder), AutoTokenizer.from_pretrained(folder)
    for ids in (model.config, model.generation_config, tokenizer):
        assert (ids.bos_token_id, ids.eos_token_id, ids.pad_token_id) == (1, 2, expected)
    assert ChatFormat.from_tokenizer(tokenizer).stop_ids[0] == 2
    assert tokenizer.model_max_length == 256


def test_another_padding_token_may_be_named(tmp_path: Path) -> None:
    folder = convert(gguf_bytes(small_llama()), tmp_path, pad_token="<|endoftext|>")
    assert loaded(folder).config.pad_token_id == 0
    assert AutoTokenizer.from_pretrained(folder).pad_token == "<|endoftext|>"


@pytest.mark.parametrize("pre", ["smollm", "qwen2"])
def test_text_is_split_as_the_file_says(pre: str, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(convert(gguf_bytes(small_llama(), pre=pre), tmp_path))
    spaces = ["Ġ", "Ġ"] if pre == "qwen2" else ["ĠĠ"]  # Qwen's last one is the next word's
    for text, pieces in (
        ("a12", ["a", "1", "2"]),  # though a merge would make 12 one token
        ("the\n\n3", ["the", "ĊĊ", "3"]),  # what splits words only would give \n and \n3
        ("x  4", ["x", *spaces, "4"]),
        ("é<|im_end|>\n", ["Ã", "©", "<|im_end|>", "Ċ"]),
    ):
        ids = tokenizer(text).input_ids
        assert tokenizer.convert_ids_to_tokens(ids) == pieces
        assert tokenizer.decode(ids) == text


WHOLE = gguf_bytes(small_llama())


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"PK\3\4" + b"\0" * 60, "GGUF magic invalid"),
        (WHOLE[:200], ""),
        (WHOLE[: len(WHOLE) // 2], ""),
        (gguf_bytes(small_llama(), architecture="retnet"), "architecture retnet is not supported"),
        (
            gguf_bytes(small_llama(), left_out="output_norm.weight"),
            "it lacks the weights model.norm.weight",
        ),
        (WHOLE.replace(b"ggml.tokens", b"ggml.others"), "tokens"),
    ],
    ids=["no GGUF", "head cut", "cut", "architecture", "weight", "vocabulary"],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    content: bytes, cause: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=f"small.gguf holds no model .*{cause}.*fetch it again"):
        convert(content, tmp_path)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file, beside an empty cache."""
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "small.gguf"
    path.write_bytes(WHOLE)
    return path


def test_a_file_is_converted_once_and_again_when_it_changes(
    file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = resolve_model(str(file))
    assert f"converting {file} once" in capfd.readouterr().err
    assert resolve_model(str(file)) == folder
    assert capfd.readouterr() == ("", "")
    assert policy_fingerprint(str(file)) != ""
    os.utime(file, ns=(1, 1))
    assert resolve_model(str(file)) != folder


def test_a_command_plays_with_a_file(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = f"--env {ENV_ID} --model {file} --num_tasks 1 --max_tokens_per_turn 4"
    out = tmp_path / "result.json"
    assert cli.main(["eval", *options.split(), "--out", str(out)]) == 0
    assert json.loads(out.read_text())["policy"] == str(file)
    model, tokenizer = load_policy(ModelArguments(model_name_or_path=str(file)))
    assert (model.dtype, tokenizer.eos_token) == (torch.float32, "<|im_end|>")
    capfd.readouterr()
    assert cli.main(["eval", "--env", ENV_ID, "--model", f"{file.parent}/other.gguf"]) == 2
    assert f"there is no file {file.parent}/other.gguf" in capfd.readouterr().err
