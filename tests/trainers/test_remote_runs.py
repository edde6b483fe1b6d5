"""Training on the environment of a server is training on the same environment here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from agentgym_envs import read_jsonl
from tests.trainers.toys import ENV_ID

pytest.importorskip("websockets", reason="the remote extra is not installed")
pytest.importorskip("wsproto", reason="the serve extra is not installed")

from tests.wrappers.serving.clients import serving
from trainers.grpo import AgentGRPOTrainer
from trainers.grpo import main as train
from wrappers.serving.app import make_app
from wrappers.serving.environments import served

TrainerIn = Callable[..., AgentGRPOTrainer]


def tokens_of(folder: Path) -> list[Any]:
    """Return of every episode what was sampled, by which odds, and what it was paid."""
    return [
        (
            (t.task_id, t.status, t.episode_return),
            [(turn.action, turn.observation) for turn in t.turns],
            [(trace.ids, trace.action_mask, trace.logprobs) for trace in t.traces],
        )
        for path in sorted((folder / "trajectories").glob("train_*.jsonl"))
        for t in read_jsonl(path)
    ]


@pytest.fixture
def url() -> Iterator[str]:
    environments = served([ENV_ID], {ENV_ID: {"action_format": "plain"}})
    with serving(make_app(environments)) as url:
        yield url


@pytest.mark.full
@pytest.mark.parametrize("backend", ["sync", "thread"])
def test_steps_over_the_wire_equal_those_in_process(
    trainer_in: TrainerIn, url: str, backend: str
) -> None:
    weights, episodes = [], []
    for folder, env in (("here", ENV_ID), ("there", f"openenv:{url}")):
        trainer = trainer_in(folder, env={"env": [env], "env_backend": backend, "max_turns": 3})
        trainer.train()
        weights.append(torch.cat([p.detach().flatten() for p in trainer.model.parameters()]))
        episodes.append(tokens_of(Path(trainer.args.output_dir)))
    assert episodes[0] == episodes[1]
    assert torch.equal(*weights)


@pytest.mark.slow
def test_a_step_of_tiny_over_the_wire_equals_that_in_process(tmp_path: Path) -> None:
    environments = served(
        ["agentgym/TextCraft-v0"], {"agentgym/TextCraft-v0": {"action_format": "react"}}
    )
    options = "--model tiny --max_steps 1 --max_turns 8 --num_generations 4 --seed 3"
    options += " --per_device_train_batch_size 8 --gradient_accumulation_steps 1 --eval_strategy no"
    with serving(make_app(environments)) as url:
        for folder, env in (("here", "TextCraft"), ("there", f"openenv:{url}/textcraft")):
            where = ["--env", env, "--output_dir", str(tmp_path / folder)]
            assert train([*options.split(), "--tasks", "depth 1", *where]) == 0
    here, there = (tokens_of(tmp_path / folder) for folder in ("here", "there"))
    assert len({episode_return for (_, _, episode_return), _, _ in here}) > 1
    assert here == there
    weights = [
        (tmp_path / folder / "model.safetensors").read_bytes() for folder in ("here", "there")
    ]
    assert weights[0] == weights[1]
