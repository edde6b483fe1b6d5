"""What a run starts from: the reference of its KL, the base of its adapter, a rival of its best."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from tests.trainers.toys import make_model
from trainers.grpo import main as train_grpo
from trainers.models.bases import keep_merged_start
from trainers.models.loading import load_for_playing, load_policy
from trainers.options.configs import ModelArguments
from trainers.options.models import START, adapter_base
from trainers.runs.folder import read_metrics

G1 = ["--max_turns", "2", "--num_generations", "2", "--per_device_train_batch_size", "2"]
SMALL = ["--env", "TextCraft", *G1, "--eval_strategy", "no", "--max_steps", "1", "--seed", "3"]
IDS = torch.tensor([[5, 6, 7, 8]])


def train(model: Path | str, folder: Path, *options: str) -> None:
    assert train_grpo([*SMALL, "--model", str(model), "--output_dir", str(folder), *options]) == 0


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        scores: torch.Tensor = model.eval()(IDS).logits
    return scores


@pytest.mark.full
def test_a_second_adapter_loads_on_the_merged_start(adapter: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(adapter, run, "--use_peft", "--lora_r", "2", "--learning_rate", "1e-9")
    start, _ = load_policy(ModelArguments(model_name_or_path=str(adapter)))
    saved = AutoModelForCausalLM.from_pretrained(run / START)
    assert torch.allclose(logits(saved), logits(start), atol=1e-5)
    for second in (run / "adapter", run / "checkpoint-1"):
        named = json.loads((second / "adapter_config.json").read_text())
        assert named["base_model_name_or_path"] == str((run / START).resolve())
        by_peft = PeftModel.from_pretrained(
            AutoModelForCausalLM.from_pretrained(named["base_model_name_or_path"]), second
        )
        assert torch.allclose(logits(by_peft), logits(start), atol=1e-4), "trained at 1e-9"
        ours, _ = load_for_playing(ModelArguments(model_name_or_path=str(second)))
        assert torch.allclose(logits(ours), logits(start), atol=1e-4)


@pytest.mark.full
def test_the_start_is_found_where_the_run_was_moved_to(adapter: Path, tmp_path: Path) -> None:
    train(adapter, tmp_path / "run", "--use_peft", "--lora_r", "2")
    moved = (tmp_path / "run").rename(tmp_path / "moved")
    assert adapter_base(str(moved / "checkpoint-1")) == str(moved / START)
    named = ModelArguments(model_name_or_path=str(moved / "checkpoint-1"))
    assert torch.allclose(
        logits(load_for_playing(named)[0]),
        logits(AutoModelForCausalLM.from_pretrained(moved)),
        atol=1e-5,
    )


def test_a_resumed_run_goes_on_from_the_start_that_it_saved(adapter: Path, tmp_path: Path) -> None:
    """`--model RUN/adapter --output_dir RUN` writes over the adapter that it starts from."""
    run = tmp_path / "run"
    shutil.copytree(adapter, run / "adapter")
    options = ["--use_peft", "--lora_r", "2", "--learning_rate", "1e-2", "--save_steps", "1"]
    train(run / "adapter", run, *options, "--save_strategy", "steps")
    ended = load_file(run / "model.safetensors")
    train(run / "adapter", run, *options, "--resume")
    resumed = load_file(run / "model.safetensors")
    assert [name for name in ended if not torch.equal(ended[name], resumed[name])] == []


def test_the_start_of_an_earlier_run_is_replaced(adapter: Path, tmp_path: Path) -> None:
    for scale in (1.0, 2.0):
        model, tokenizer = load_policy(ModelArguments(model_name_or_path=str(adapter)))
        with torch.no_grad():
            model.model.norm.weight.mul_(scale)
        start = logits(model)
        adapted = get_peft_model(model, LoraConfig(r=2, task_type="CAUSAL_LM"))
        keep_merged_start(adapted, tokenizer, tmp_path / START, is_resumed=False, write=True)
        saved = AutoModelForCausalLM.from_pretrained(tmp_path / START)
        assert torch.equal(logits(saved), start)


@pytest.mark.full
def test_the_start_is_saved_only_where_it_was_merged_and_an_adapter_needs_it(
    adapter: Path, tmp_path: Path
) -> None:
    train("tiny", tmp_path / "one", "--use_peft", "--lora_r", "2")
    train(adapter, tmp_path / "other")
    assert not (tmp_path / "one" / START).exists()
    assert not (tmp_path / "other" / START).exists()


@pytest.mark.full
@pytest.mark.parametrize("further", [[], ["--use_peft", "--lora_r", "2"]])
def test_the_kl_is_relative_to_an_adapter_s_folder(
    adapter: Path, tmp_path: Path, further: list[str]
) -> None:
    train(adapter, tmp_path / "run", "--beta", "0.1", *further)
    (entry,) = [e for e in read_metrics(tmp_path / "run") if "kl" in e]
    assert abs(entry["kl"]) < 1e-6


def test_the_kl_is_relative_to_the_weights_that_are_given(
    trainer_in: Callable[..., Any], tmp_path: Path
) -> None:
    make_model().save_pretrained(tmp_path / "saved")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "saved")
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    trainer = trainer_in(model=model, beta=0.1, max_steps=1)
    start = {name: weight.clone() for name, weight in model.state_dict().items()}
    trainer.train()
    assert abs(trainer.state.log_history[0]["kl"]) < 1e-6
    for name, weight in trainer.ref_model.state_dict().items():
        assert torch.equal(weight, start[name])


def evaluated(trainer: Any, successes: list[float]) -> None:
    """Let evaluations of a trainer report these successes, one after the other."""
    values = iter(successes)
    summarized = trainer.evaluate

    def evaluate(*args: Any, **kwargs: Any) -> Any:
        trainer.next_success = next(values)
        return summarized(*args, **kwargs)

    log = trainer.callback_handler.on_evaluate

    def on_evaluate(args: Any, state: Any, control: Any, metrics: dict[str, float]) -> Any:
        metrics["eval_success"] = trainer.next_success
        return log(args, state, control, metrics)

    trainer.evaluate = evaluate
    trainer.callback_handler.on_evaluate = on_evaluate


@pytest.mark.parametrize(
    ("successes", "kept"), [([0.5, 0.25, 0.25], 0), ([0.5, 0.25, 0.5], 2), ([0.0, 0.5, 0.25], 1)]
)
def test_the_weights_before_training_compete_for_the_best(
    trainer_in: Callable[..., Any], successes: list[float], kept: int
) -> None:
    trainer = trainer_in(
        max_steps=2, eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1,
        eval_on_start=True, save_total_limit=1,
    )  # fmt: skip
    start = [weight.detach().clone() for weight in trainer.model.parameters()]
    evaluated(trainer, successes)
    trainer.train()
    assert trainer.state.best_model_checkpoint.endswith(f"checkpoint-{kept}")
    is_start = all(
        torch.equal(one, other)
        for one, other in zip(start, trainer.model.parameters(), strict=True)
    )
    assert is_start == (kept == 0)


def test_a_peft_model_with_a_reference_is_resumed_whole(trainer_in: Callable[..., Any]) -> None:
    """TRL keeps the reference of its KL as a second adapter, beside which the first was lost."""

    def train(resume: bool) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = get_peft_model(make_model(), LoraConfig(r=2, task_type="CAUSAL_LM"))
        trainer = trainer_in(model=model, beta=0.1, save_strategy="steps", save_steps=1)
        checkpoint = Path(trainer.args.output_dir) / "checkpoint-1"
        trainer.train(resume_from_checkpoint=str(checkpoint) if resume else None)
        return [weight.clone() for weight in model.parameters()]

    whole, resumed = train(resume=False), train(resume=True)
    assert all(torch.equal(one, other) for one, other in zip(whole, resumed, strict=True))
