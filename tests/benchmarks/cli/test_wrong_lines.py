"""Wrong command lines that reach the libraries: each ends as a sentence, before a run begins."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from benchmarks.cli import main as cli
from trainers.models.fetched import tiny_folder

GRPO = ("train", "grpo", "--env", "TextCraft", "--max_steps", "1", "--report_to", "none")
SFT = ("train", "sft", "--env", "TextCraft", "--max_steps", "1", "--num_episodes", "2")
RANDOM = ("eval", "--env", "TextCraft", "--policy", "random", "--num_tasks", "1")


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return what a refused command line is told; the status is that of a usage error."""
    try:
        status: int | str | None = cli.main(list(words))
    except SystemExit as left:
        status = left.code
    assert status == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return error


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--report_to", "wandb"], f"needs a package: {sys.executable} -m pip install wandb"),
        (["--report_to", "wanbd"], "there is no tracker 'wanbd'; did you mean wandb or"),
        (["--report_to", "paper"], "there is no tracker 'paper'; allowed: none, all, azure_ml"),
        (["--load_in_4bit"], f"load_in_4bit needs bitsandbytes: {sys.executable} -m pip install"),
        (["--load_in_8bit", "--load_in_4bit"], "can't use 8 bit and 4 bit precision at the same"),
        (["--optim", "adamw_bnb_8bit"], "You need to install 'bitsandbytes'"),
        (["--optim", "grokadamw"], "Please install grokadamw"),
        (["--optim", "galore_adamw"], "You need to install 'galore_torch'"),
        (["--adam_beta1", "2"], "torch cannot follow the options: Invalid beta parameter"),
        (["--lr_scheduler_type", "cosine", "--lr_scheduler_kwargs", '{"a": 1}'], "argument 'a'"),
        (["--dataloader_num_workers", "-1"], "dataloader_num_workers must be >= 0, got -1"),
        (["--weight_decay", "-1"], "weight_decay must be >= 0, got -1.0"),
        (["--lr", "1e-5"], "unknown option --lr; did you mean --learning_rate?"),
        (["--use_lora"], "unknown option --use_lora; did you mean --use_peft?"),
        (["--model", "/nowhere"], "there is no folder /nowhere"),
        (["--model", "./nowhere"], "there is no folder ./nowhere"),
        (["--model", "nowhere"], "there is no such folder, and of such an id: "),
        (["--deepspeed", "nowhere.json"], "'deepspeed>=0.9.3' distribution was not found"),
        (["--attn_implementation", "flash_attention_2"], "package for FlashAttention2"),
        (["--use_peft", "--lora_r", "0"], "lora_r must be >= 1, got 0"),
        (["--use_peft", "--lora_dropout", "2"], "lora_dropout must be in 0..1, got 2.0"),
        (["--use_peft", "--lora_task_type", "X"], "peft cannot follow the options: Invalid task"),
        (["--use_peft", "--lora_target_modules", "nosuch"], "Target modules {'nosuch'} not found"),
        (["--loss_type", "gpro"], "invalid choice: 'gpro' (choose from 'grpo', 'bnpo', 'dr_grpo',"),
        (["--temperature", "0"], "temperature must be > 0, since the loss"),
        (["--learning_rate", "nan"], "learning_rate must be >= 0, got nan"),
        (["--seed", "-1"], "seed must be in 0..4294967295, got -1"),
        (["--eval_steps", "-1"], "eval_steps must be > 0, got -1.0"),
        (["--num_generations", "0"], "num_generations must be >= 2, since"),
        (["--gradient_accumulation_steps", "0"], "gradient_accumulation_steps must be >= 1, got 0"),
        (["--output_dir", "/dev/null/run"], "output_dir: cannot write /dev/null/run"),
        (["--output_dir", "/dev/null"], "output_dir must name a folder, got the file /dev/null"),
        (["--env_kwargs", '{"recipe_dir": 1}'], "'recipe_dir'; did you mean recipes_dir?"),
        (["--env_kwargs", '{"recipes_dir": "/nowhere"}'], "recipes_dir='/nowhere' is not a folder"),
        (["--wrapper", "json:loads"], "--wrapper json:loads wraps no environment"),
    ],
)  # fmt: skip
def test_a_training_command_refuses_with_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = [] if "--output_dir" in words else ["--output_dir", str(tmp_path / "run")]
    assert sentence in told(capsys, *GRPO, *out, *words)


def test_a_folder_without_a_model_names_those_below_it_that_have_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shutil.copytree(tiny_folder(), tmp_path / "final")
    for words in (
        (*GRPO, "--model", str(tmp_path), "--output_dir", str(tmp_path / "run")),
        (*RANDOM[:3], "--policy", str(tmp_path)),
    ):
        sentence = told(capsys, *words)
        assert f"the folder {tmp_path} holds no model" in sentence
        assert f"; its folders that do: {tmp_path / 'final'}" in sentence


def test_what_is_refused_leaves_an_earlier_run_where_it_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text("{}")
    for words in (("--optim", "adamw_bnb_8bit"), ("--dataloader_num_workers", "-1")):
        told(capsys, *GRPO, "--output_dir", str(tmp_path), *words)
        told(capsys, *SFT, "--output_dir", str(tmp_path), *words)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_folder_is_one_of_atif_documents(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sentence = told(capsys, *SFT[:2], "--data", str(tmp_path), "--output_dir", str(tmp_path / "r"))
    assert f"--data: {tmp_path} is a folder without .json files; name its files" in sentence


def test_imitation_refuses_alike(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("--use_peft", "--lora_target_modules", "nosuch", "--output_dir", str(tmp_path))
    assert "Target modules {'nosuch'} not found" in told(capsys, *SFT, *words)


def test_a_model_without_a_chat_template_is_refused_before_it_plays(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "base_model"
    shutil.copytree(tiny_folder(), folder, ignore=shutil.ignore_patterns("chat_template*"))
    for words in (
        (*GRPO, "--model", str(folder), "--output_dir", str(tmp_path / "run")),
        ("eval", "--env", "TextCraft", "--policy", str(folder), "--num_tasks", "1"),
    ):
        sentence = told(capsys, *words)
        assert f"the model {str(folder)!r} cannot be played with" in sentence
        assert "has no chat template; pass --chat_template FILE" in sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--env_kwargs", '{"splt": "test"}'], "takes no argument 'splt'; did you mean split?"),
        (["--out", "/dev/null/result.json"], "out: cannot write /dev/null/result.json"),
        (["--polcy", "expert"], "unknown option --polcy; did you mean --policy "),
    ],
)
def test_an_evaluation_refuses_with_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in told(capsys, *RANDOM, *words)


def test_play_and_quickstart_and_sweep_refuse_with_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    misspelt = told(capsys, "play", "BabyAI", "--env-kwargs", '{"levls": 1}')
    assert "agentgym/BabyAI-v0 takes no argument 'levls'; " in misspelt
    assert "is no text environment" in told(capsys, "play", "CartPole-v1")
    assert "must name a folder" in told(capsys, "quickstart", "--output_dir", "/dev/null")
    assert "cannot read the horizon 'soon'" in told(capsys, "quickstart", "--horizon", "soon")
    sweep = ("sweep", "--policy", "random", "--suite", "textcraft", "--out", "/dev/null")
    assert "out must name a folder, got the file /dev/null" in told(capsys, *sweep)
