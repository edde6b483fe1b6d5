"""What a CUDA device may do otherwise: sampling there, bfloat16, and a short GRPO run.

`make test-gpu` runs them where there is one. Elsewhere `pytest -m gpu` rehearses them on the CPU.
"""

from __future__ import annotations

import copy
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from peft import LoraConfig, get_peft_model

from tests.trainers.tiny_models import tiny_model
from trainers.backends.hf import HFBackend
from trainers.grpo import main
from trainers.models.loading import load_for_playing
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.configs import ModelArguments
from trainers.policies.model import ModelPolicy
from trainers.rollout.environments import Environments
from trainers.tokens.generation import Sampling

pytestmark = pytest.mark.gpu
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-3), ("bfloat16", 0.25)])
def test_sampled_logprobs_agree_with_one_forward_pass(dtype: str, tolerance: float) -> None:
    environments = Environments(EnvArguments(env=["TextCraft"], max_turns=6, num_envs=8))
    model, tokenizer = load_for_playing(ModelArguments(dtype=dtype))
    assert model.device.type == DEVICE
    budgets = EpisodeArguments(max_tokens_per_turn=96)
    policy = ModelPolicy.from_model(model, tokenizer, budgets, name="", seed=0)
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


@pytest.mark.skipif(DEVICE == "cpu", reason="CUDA graphs need CUDA")
@pytest.mark.parametrize("adapter", [False, True])
@pytest.mark.parametrize("lowered", [False, True])
def test_decoding_steps_are_replayed_and_sample_what_steps_from_python_do(
    adapter: bool, lowered: bool
) -> None:
    model: Any = copy.deepcopy(tiny_model("qwen2")).to(DEVICE)
    if adapter:
        model = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear"))
    autocast = partial(torch.autocast, DEVICE, torch.bfloat16) if lowered else None
    if lowered:  # a trainer's model lowers its weights in an autocast of its own
        model = Accelerator(mixed_precision="bf16").prepare_model(model)
    greedy = Sampling(max_new_tokens=30, temperature=0, stop_ids=(0,))
    backends = [HFBackend(model, autocast=autocast, cuda_graphs=on) for on in (True, False)]
    prompts = [[*range(20, 20 + length)] for length in (3, 40, 90, 200, 201, 7, 8, 9, 10, 11)]
    for turn in range(3):
        keys = [*range(10 * turn, 10 * turn + 10)]
        replayed, launched = (one.generate(prompts, greedy, keys=keys) for one in backends)
        for row, other in zip(replayed, launched, strict=True):
            pairs = zip(row.ids, other.ids, strict=False)
            common = next((at for at, (id_, same) in enumerate(pairs) if id_ != same), 30)
            assert common >= (5 if lowered else 30)  # rounding may turn a near tie
            near = torch.tensor(row.logprobs[:common]), torch.tensor(other.logprobs[:common])
            torch.testing.assert_close(*near, atol=0.1 if lowered else 1e-3, rtol=0)
        for one in backends:
            one.finish(keys)
        with torch.no_grad():  # as an optimizer does
            for weight in model.parameters():
                weight.add_(torch.randn_like(weight), alpha=0.02)
    assert backends[0]._model.graphs.works and not backends[1]._model.graphs.works


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
