"""`AsyncGRPOTrainer` trains with our worker through vLLM's own server.

Where there is no CUDA device, three things of it stand on others here, as `plugging_in.md` says:
the attention on torch's instead of FlashAttention 3, the weights on a folder instead of NCCL, and
the device's name, by which it counts its use, on none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer
from trl.experimental.async_grpo import (
    AsyncGRPOConfig,
    AsyncGRPOTrainer,
    async_grpo_trainer,
    packing,
)
from trl.experimental.async_grpo.vllm_client import VLLMClient

from lab.vllm_process import VLLMProcess, vllm_servers
from tests.trainers.backends.test_vllm_backend import TOLERANCE, worst_gap
from tests.trainers.backends.test_vllm_server import real
from trainers.backends.vllm_server import VLLMServerBackend
from trainers.backends.weights import WEIGHTS_FILE
from trainers.models.loading import resolve_model
from trainers.policies.model import ModelPolicy
from trainers.rollout.rollout import Rollout
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Sampling
from trainers.trl_bridge import task_dataset
from trainers.trl_bridge.rollout_worker import RolloutWorker
from wrappers import TextVectorEnv

pytestmark = [*(mark for mark in real if mark.name != "timeout"), pytest.mark.timeout(1200)]
STEPS = 3


class WeightsByFolder:
    """TRL's weight transfer, but the weights go through a folder.

    Args:
        url: the server's.
        folder: that it can read.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self._client = VLLMClient(url)
        self._folder = folder
        self.pause, self.resume = self._client.pause, self._client.resume

    def init_weight_transfer(self) -> None:
        self._client.wait_for_server_ready()

    def send_weights(self, iterator: Iterator[tuple[str, torch.Tensor]]) -> None:
        save_file({name: weight.clone() for name, weight in iterator}, self._folder / WEIGHTS_FILE)
        call = {"method": "load_policy_folder", "args": [str(self._folder)]}
        url = f"{self._client.server_url}/collective_rpc"
        httpx.post(url, json=call, timeout=60).raise_for_status()

    def destroy(self) -> None:
        pass


def attend_to_segments(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    *_longest: int,
    softmax_scale: float,
    **_options: Any,
) -> torch.Tensor:
    """Do what `flash_attn_varlen_func` does, (tokens, heads, width) each, the last rows aligned."""
    outputs = []
    spans = zip(pairwise(cu_seqlens_q.tolist()), pairwise(cu_seqlens_k.tolist()), strict=True)
    for (first, end), (first_seen, end_seen) in spans:
        num_rows, num_seen = end - first, end_seen - first_seen
        mask = torch.ones(num_rows, num_seen, dtype=torch.bool).tril(num_seen - num_rows)
        output = torch.nn.functional.scaled_dot_product_attention(
            query[first:end].transpose(0, 1),
            key[first_seen:end_seen].transpose(0, 1),
            value[first_seen:end_seen].transpose(0, 1),
            attn_mask=mask,
            scale=softmax_scale,
            enable_gqa=True,
        )
        outputs.append(output.transpose(0, 1))
    return torch.cat(outputs)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VLLMProcess]:
    with vllm_servers(resolve_model("tiny"), tmp_path_factory.mktemp("logs")) as (started,):
        yield started


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = SimpleNamespace(flash_attn_varlen_func=attend_to_segments)
    monkeypatch.setattr(packing, "_flash_attn", lambda: kernels)
    # None is what it takes an unknown device for.
    monkeypatch.setattr(async_grpo_trainer, "get_peak_flops_per_device", lambda *_: None)


@pytest.mark.usefixtures("on_cpu")
def test_it_trains_on_the_tokens_that_the_server_sampled(
    server: VLLMProcess, tmp_path: Path
) -> None:
    folder = str(resolve_model("tiny"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    envs = TextVectorEnv("agentgym/BabyAI-v0", num_envs=16, action_format="react", max_turns=4)
    backend = VLLMServerBackend(server.url)
    chat = ChatFormat.from_tokenizer(tokenizer)
    policy = ModelPolicy(backend, chat, sampling=Sampling(40), seed=0)
    tasks = envs.call("task_ids", "train")[0]
    rollout = Rollout(envs, policy)
    worker = RolloutWorker(rollout, tasks, num_generations=4, groups_at_once=4, queue_maxsize=16)
    args = AsyncGRPOConfig(
        str(tmp_path / "run"),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        max_steps=STEPS,
        per_device_train_batch_size=16,
        gradient_accumulation_steps=1,
        learning_rate=1e-4,
        token_budget=0,
        vllm_server_base_url=server.url,
    )
    trainer = AsyncGRPOTrainer(
        folder,
        args=args,
        train_dataset=task_dataset(tasks),
        processing_class=tokenizer,
        rollout_worker=worker,
        weight_transfer=WeightsByFolder(server.url, tmp_path),
    )
    before = {name: weight.clone() for name, weight in trainer.model.named_parameters()}
    trainer.train()
    envs.close()
    steps = [entry for entry in trainer.state.log_history if "kl" in entry]
    assert len(steps) == STEPS
    # Of the trainer's own weights, to the rounding of two engines; a single wrong token would show.
    assert steps[0]["sample/staleness_max"] == 0
    assert steps[0]["ratio"] == pytest.approx(1, abs=1e-4)
    assert steps[0]["kl"] < 1e-6
    assert max(entry["grad_norm"] for entry in steps) > 0
    assert any(
        not torch.equal(weight, before[name]) for name, weight in trainer.model.named_parameters()
    )
    prompts = [tokenizer("Goal: craft oak planks.")["input_ids"]]
    turns = backend.generate(prompts, Sampling(30), keys=[0])
    backend.close()
    trainer.model.set_attn_implementation("sdpa")
    assert worst_gap(trainer.model.eval(), prompts, turns) < TOLERANCE
