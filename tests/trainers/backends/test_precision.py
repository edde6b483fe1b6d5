"""bf16 and gradient checkpointing are TRL's own options; they work here as they do there."""

from __future__ import annotations

import copy
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from tests.trainers.tiny_models import tiny_model
from tests.trainers.toys import ENV_ID, make_folder
from trainers import agentevol, dpo, grpo, sft
from trainers.backends.row_cache import RowCache
from trainers.backends.row_model import RowModel
from trainers.models.loading import computed_in, inputs_left_to_autocast

OPTIONS = (
    "--max_steps 1 --max_tokens_per_turn 4 --learning_rate 1e-2 --per_device_train_batch_size 8 "
    "--logging_steps 1 --action_format plain --eval_strategy no --disable_tqdm --use_cpu"
)


def one_step(command: Any, folder: Path, *options: str) -> dict[str, float]:
    """Run a command for one step; return what it logged."""
    model = make_folder(folder / "model")
    out = folder / "out"
    argv = [*OPTIONS.split(), "--env", ENV_ID, "--model", model, "--output_dir", str(out)]
    if command is grpo.main:
        argv += "--num_generations 4 --gradient_accumulation_steps 1 --beta 0.01".split()
    assert command([*argv, *options]) == 0
    before = AutoModelForCausalLM.from_pretrained(model).state_dict()
    after = AutoModelForCausalLM.from_pretrained(out).state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    lines = (out / "metrics.jsonl").read_text().splitlines()
    entry: dict[str, float] = next(e for e in map(json.loads, lines) if "loss" in e)
    assert math.isfinite(entry["loss"])
    assert entry["grad_norm"] > 0
    return entry


@pytest.mark.full
@pytest.mark.parametrize("command", [grpo.main, sft.main], ids=["grpo", "sft"])
def test_gradient_checkpointing_changes_no_number(command: Any, tmp_path: Path) -> None:
    plain = one_step(command, tmp_path / "plain", "--bf16", "false")
    saved = one_step(command, tmp_path / "saved", "--bf16", "false", "--gradient_checkpointing")
    assert saved["loss"] == pytest.approx(plain["loss"], abs=1e-6)
    assert saved["grad_norm"] == pytest.approx(plain["grad_norm"], rel=1e-4)


@pytest.mark.full
@pytest.mark.parametrize("command", [grpo.main, sft.main], ids=["grpo", "sft"])
def test_bf16_trains_close_to_float32(command: Any, tmp_path: Path) -> None:
    exact = one_step(command, tmp_path / "exact", "--bf16", "false")
    rough = one_step(command, tmp_path / "rough", "--bf16", "--gradient_checkpointing")
    assert rough["grad_norm"] != exact["grad_norm"]
    assert rough["loss"] == pytest.approx(exact["loss"], rel=0.05, abs=0.01)
    assert rough["grad_norm"] == pytest.approx(exact["grad_norm"], rel=0.05)


@pytest.mark.full
@pytest.mark.parametrize("command", [grpo.main, sft.main], ids=["grpo", "sft"])
def test_an_adapter_under_bf16_is_kept_in_float32_on_a_base_in_bfloat16(
    command: Any, tmp_path: Path
) -> None:
    lora = ("--use_peft", "--lora_target_modules", "q_proj", "v_proj")
    one_step(command, tmp_path, "--bf16", *lora)
    adapter = load_file(tmp_path / "out" / "adapter" / "adapter_model.safetensors")
    assert {weight.dtype for weight in adapter.values()} == {torch.float32}
    merged = load_file(tmp_path / "out" / "model.safetensors")
    assert {weight.dtype for weight in merged.values()} == {torch.bfloat16}


@pytest.mark.parametrize("lowered", [True, False])
def test_an_adapters_numbers_are_the_same_where_its_inputs_are_left_to_autocast(
    lowered: bool,
) -> None:
    base = copy.deepcopy(tiny_model("qwen2")).to(torch.bfloat16 if lowered else torch.float32)
    config = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    model = get_peft_model(base, config)
    inputs: list[torch.dtype] = []
    layer = model.get_submodule("base_model.model.model.layers.0.self_attn.q_proj.lora_A.default")
    layer.register_forward_pre_hook(lambda _layer, args: inputs.append(args[0].dtype))

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=lowered):
            model(torch.arange(20, 40)[None]).logits.float().logsumexp(-1).sum().backward()
        return [weight.grad for weight in model.parameters() if weight.grad is not None]

    raised = gradients()
    with inputs_left_to_autocast(model, lowered):
        left = gradients()
    assert raised and all(map(torch.equal, raised, left))
    assert inputs == [torch.float32, torch.bfloat16 if lowered else torch.float32]


@pytest.fixture
def sampled_in(monkeypatch: pytest.MonkeyPatch) -> set[torch.dtype]:
    """Return the precisions in which turns are sampled from now on."""
    seen: set[torch.dtype] = set()
    run = RowModel._run

    def watch(self: Any, cache: RowCache, *args: Any) -> torch.Tensor:
        logits = run(self, cache, *args)
        seen.add(cache.layers[0].keys.dtype)
        return logits

    monkeypatch.setattr(RowModel, "_run", watch)
    return seen


@pytest.mark.full
def test_turns_are_sampled_in_the_precision_of_training(
    tmp_path: Path, sampled_in: set[torch.dtype]
) -> None:
    one_step(grpo.main, tmp_path / "rough", "--bf16", "--eval_strategy", "steps", "--eval_steps=1")
    assert sampled_in == {torch.bfloat16}
    sampled_in.clear()
    one_step(grpo.main, tmp_path / "exact", "--bf16", "false")
    assert sampled_in == {torch.float32}


@pytest.mark.full
@pytest.mark.parametrize("lowered", [True, False])
@pytest.mark.parametrize("command", [agentevol.main, dpo.main], ids=["agentevol", "dpo"])
def test_episodes_played_before_training_are_sampled_in_its_precision(
    command: Any, lowered: bool, tmp_path: Path, sampled_in: set[torch.dtype]
) -> None:
    argv = [*OPTIONS.split(), "--env", ENV_ID, "--model", make_folder(tmp_path / "model")]
    argv += ["--output_dir", str(tmp_path / "out"), "--bf16", str(lowered)]
    if command is agentevol.main:
        argv += ["--num_explored_tasks=4", "--num_rounds=1"]
    assert command(argv) == 0
    assert sampled_in == {torch.bfloat16 if lowered else torch.float32}


def test_an_engine_is_asked_for_the_precision_of_training() -> None:
    model = torch.nn.Linear(2, 2)
    model.dtype, model.device = torch.float32, torch.device("cpu")  # as a transformers model has
    assert computed_in(model, None) == torch.float32
    assert computed_in(model, partial(torch.autocast, "cpu", torch.bfloat16)) == torch.bfloat16
    assert computed_in(model, partial(torch.autocast, "cpu", enabled=False)) == torch.float32
