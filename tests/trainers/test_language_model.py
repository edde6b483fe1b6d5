"""A real pretrained model from its package to a step of training; `make test-llm` runs these."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.cli import main as cli
from lab.warm_start import adapter
from trainers import AgentGRPOConfig, AgentGRPOTrainer, EnvArguments, RolloutArguments
from trainers.models.fetched import ADAPTER
from trainers.models.loading import resolve_model
from trainers.options.files import option_file, read_options

pytestmark = [pytest.mark.llm, pytest.mark.timeout(1200)]

ENGLISH = (
    "The Nile is a river in Africa. It flows north through eleven countries and ends in the "
    "Mediterranean Sea. Many people live near the river, because its land is good for farming."
)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the model's folder, fetched and converted into a cache of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTGYM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Path(resolve_model("smollm2"))


def loaded(folder: Path) -> tuple[Any, Any]:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()
    return model, AutoTokenizer.from_pretrained(folder)


def test_it_answers_a_question_and_ends_its_turn(folder: Path) -> None:
    model, tokenizer = loaded(folder)
    question = [{"role": "user", "content": "What is the capital of France?"}]
    prompt = tokenizer.apply_chat_template(
        question, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    ids = model.generate(**prompt, do_sample=False, max_new_tokens=24)[0]
    answer = tokenizer.decode(ids[prompt.input_ids.shape[1] :])
    assert "Paris" in answer
    assert answer.endswith("<|im_end|>")  # and not the budget


def test_it_expects_english_text(folder: Path) -> None:
    model, tokenizer = loaded(folder)
    ids = tokenizer(ENGLISH, return_tensors="pt").input_ids
    with torch.no_grad():
        perplexity = math.exp(model(ids, labels=ids).loss)
    assert perplexity < 40  # it is 25; 68 with queries and keys in the order of rows that GGUF has


def test_it_plays_by_the_command(tmp_path: Path) -> None:
    options = "--env BabyAI --num_tasks 2 --max_turns 2 --max_tokens_per_turn 24 --dtype bfloat16"
    files = [
        "--out",
        str(tmp_path / "result.json"),
        "--trajectories",
        str(tmp_path / "plays.jsonl"),
    ]
    assert cli.main(["eval", "--model", "smollm2", *options.split(), *files]) == 0
    plays = [json.loads(line) for line in (tmp_path / "plays.jsonl").read_text().splitlines()]
    assert [play["policy"] for play in plays] == ["smollm2"] * 2
    written = [turn["completion"] for play in plays for turn in play["turns"]]
    assert len(written) == 4
    assert all(any(character.isalpha() for character in text) for text in written)


def test_with_the_shipped_adapter_it_plays_what_that_was_taught(tmp_path: Path) -> None:
    preset = read_options(option_file(adapter.PRESET))
    names = ("env", "tasks", "env_kwargs", "action_format", "max_turns", "max_tokens_per_turn")
    playing = [word for name in names for word in (f"--{name}", str(preset[name]))]
    solved = {}
    for model in ("smollm2", "smollm2-textcraft"):
        out = tmp_path / f"{model}.json"
        options = "--num_tasks 16 --temperature 0 --dtype bfloat16".split()
        assert cli.main(["eval", *playing, "--model", model, *options, "--out", str(out)]) == 0
        solved[model] = json.loads(out.read_text())["success"]
    assert solved["smollm2"] == 0.0 < solved["smollm2-textcraft"]


def test_the_adapter_is_made_by_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("STEPS", 1), ("EPISODES_A_STEP", 2), ("EXPERT_EPISODES", 4)):
        monkeypatch.setattr(adapter, name, value)
    adapter.teach_adapter(str(tmp_path))
    made, shipped = (
        load_file(place / "adapter_model.safetensors") for place in (tmp_path, ADAPTER)
    )
    assert {name: weight.shape for name, weight in made.items()} == {
        name: weight.shape for name, weight in shipped.items()
    }
    assert any(weight.any() for name, weight in made.items() if "lora_B" in name)


def test_one_step_of_sft_makes_the_experts_episodes_likelier(folder: Path, tmp_path: Path) -> None:
    data, run = tmp_path / "expert.jsonl", tmp_path / "sft"
    env = ["--env", "BabyAI", "--tasks", "GoTo"]
    assert cli.main(["collect", *env, "--num_episodes", "2", "--out", str(data)]) == 0
    options = "--model smollm2 --max_steps 2 --per_device_train_batch_size 2 --eval_strategy no"
    words = ["train", "sft", *env, *options.split(), "--logging_steps", "1"]
    assert cli.main([*words, "--data", str(data), "--output_dir", str(run)]) == 0
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in lines if "loss" in line]
    assert len(losses) == 2 and losses[1] < losses[0]
    assert AutoTokenizer.from_pretrained(run).eos_token == "<|im_end|>"
    assert AutoModelForCausalLM.from_pretrained(run).config.eos_token_id == 2


def test_one_step_of_grpo_changes_it_from_python(folder: Path, tmp_path: Path) -> None:
    def letters(completions: list[Any], **_: Any) -> list[float]:
        """Pay what differs between episodes that all fail."""
        return [float(len(str(completion))) for completion in completions]

    trainer = AgentGRPOTrainer(
        "smollm2",
        EnvArguments(env=["BabyAI"], tasks=["GoTo"], max_turns=2),
        args=AgentGRPOConfig(
            output_dir=str(tmp_path / "grpo"),
            max_steps=1,
            num_generations=2,
            per_device_train_batch_size=2,
            gradient_accumulation_steps=1,
            learning_rate=1e-5,
            eval_strategy="no",
            save_strategy="no",
            report_to=[],
        ),
        rollout=RolloutArguments(max_tokens_per_turn=16),
        reward_funcs=letters,
    )
    before = {name: weight.clone() for name, weight in trainer.model.state_dict().items()}
    trainer.train()
    (entry,) = (log for log in trainer.state.log_history if "loss" in log)
    assert entry["grad_norm"] > 0 and math.isfinite(entry["grad_norm"])
    after = trainer.model.state_dict()
    changed = [name for name, weight in before.items() if not torch.equal(weight, after[name])]
    assert changed
    # The probabilities that were trained are those that were sampled.
    assert entry["sampling/sampling_logp_difference/max"] < 1e-3
