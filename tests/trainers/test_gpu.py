"""What a CUDA device may do otherwise: sampling there, bfloat16, and a short GRPO run.

`make test-gpu` runs them where there is one. Elsewhere `pytest -m gpu` rehearses them on the CPU.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from trainers.grpo import main
from trainers.models.loading import load_for_playing
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.configs import ModelArguments
from trainers.policies.model import ModelPolicy
from trainers.rollout.environments import Environments

pytestmark = pytest.mark.gpu
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-3), ("bfloat16", 0.25)])
def test_sampled_logprobs_agree_with_one_forward_pass(dtype: str, tolerance: float) -> None:
    environments = Environments(EnvArguments(env=["TextCraft"], max_turns=6, num_envs=8))
    model, tokenizer = load_for_playing(ModelArguments(dtype=dtype))
    assert model.device.type == DEVICE
    budgets = EpisodeArguments(max_tokens_per_turn=96)
    policy = ModelPolicy.of_model(model, tokenizer, budgets, name="", seed=0)
    for trajectory in environments.rollout(policy).run(environments.task_ids("validation")[:8]):
        trace = trajectory.trace
        ids = torch.tensor([trace.ids], device=model.device)
        with torch.no_grad():
            logits = model(ids).logits[0, len(trace.prompt_ids) - 1 : -1].float()
        logprobs = logits.log_softmax(-1).gather(-1, ids[0, len(trace.prompt_ids) :, None])[:, 0]
        sampled = torch.tensor(trace.action_mask, device=model.device).bool()
        recorded = torch.tensor(trace.logprobs, device=model.device)
        assert (logprobs - recorded)[sampled].abs().max() < tolerance
    environments.close()


def test_grpo_trains_in_bfloat16(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "env": "TextCraft",
        "model": "tiny",
        "output_dir": tmp_path,
        "max_steps": 2,
        "horizon": "fixed:6",
        "max_tokens_per_turn": 96,
        "eval_strategy": "no",
        "bf16": True,  # the default on an accelerator
    }
    assert (
        main([word for name, value in options.items() for word in (f"--{name}", str(value))]) == 0
    )
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    entries = [entry for entry in map(json.loads, lines) if "episodes/success" in entry]
    assert [entry["global_step"] for entry in entries] == [1, 2]
    assert (tmp_path / "model.safetensors").exists()
