"""WebArena's pages through the trainers: one step of each with a very small policy."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from agentgym_envs import write_jsonl
from lab.warm_start.tiny import build_model, build_tokenizer, save_tiny
from lab.warm_start.tiny_from_episodes import frequent_units
from trainers import grpo, sft
from trainers.collect import expert_episodes
from trainers.options.arguments import EnvArguments
from trainers.rollout.environments import Environments

TASKS = ["webarena_7400", "webarena_7401"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `episodes.jsonl`, the expert's, and `policy`, which can read them."""
    folder = tmp_path_factory.mktemp("web")
    environments = Environments(EnvArguments(env=["WebArena"], tasks=TASKS), episodes=2)
    episodes = expert_episodes(environments, environments.task_ids("train", tasks=TASKS))
    environments.close()
    assert all(episode.success for episode in episodes)
    write_jsonl(folder / "episodes.jsonl", episodes)
    tokenizer = build_tokenizer(frequent_units(episodes, num_units=300))
    sizes = {"hidden_size": 16, "num_layers": 1, "num_heads": 2, "head_dim": 8}
    save_tiny(folder / "policy", build_model(len(tokenizer), **sizes), tokenizer)
    return folder


def options(folder: Path, output: Path) -> list[str]:
    return [
        *("--env", "WebArena", "--tasks", *TASKS, "--model", str(folder / "policy")),
        *("--output_dir", str(output), "--max_steps", "1", "--eval_strategy", "no"),
        *("--per_device_train_batch_size", "2", "--gradient_accumulation_steps", "1"),
        *("--learning_rate", "1e-3", "--warmup_steps", "0", "--disable_tqdm", "true"),
    ]


def weights(folder: Path) -> torch.Tensor:
    return AutoModelForCausalLM.from_pretrained(folder).get_input_embeddings().weight


def test_imitation_learns_from_the_experts_pages(folder: Path, tmp_path: Path) -> None:
    data = ["--data", str(folder / "episodes.jsonl"), "--max_length", "4096"]
    assert sft.main([*options(folder, tmp_path), *data]) == 0
    assert not torch.equal(weights(folder / "policy"), weights(tmp_path))


def test_reinforcement_learning_plays_pages(folder: Path, tmp_path: Path) -> None:
    playing = [
        *("--num_generations", "2", "--max_turns", "2", "--max_tokens_per_turn", "8"),
        *("--invalid_action_penalty", "0.1"),
    ]
    assert grpo.main([*options(folder, tmp_path), *playing]) == 0
    assert (tmp_path / "trajectories" / "train_000001.jsonl").exists()
    assert (tmp_path / "model.safetensors").exists()
