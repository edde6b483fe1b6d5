from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model

from tests.trainers.toys import ENV_ID, make_model, make_tokenizer
from trainers.grpo import AgentGRPOTrainer
from trainers.models.loading import load_policy
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig, ModelArguments
from trainers.runs import records

NO_EVALUATION: dict[str, Any] = {"eval_strategy": "no", "save_strategy": "no"}


@pytest.fixture
def curves() -> None:
    """Have learning curves drawn: a quarter of a second each, most of a small training."""


@pytest.fixture(autouse=True)
def _no_curves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "curves" not in request.fixturenames:
        monkeypatch.setattr(records, "draw_run_curve", lambda folder: None)


_metadata, _version = (functools.cache(f) for f in (metadata.metadata, metadata.version))


@pytest.fixture(autouse=True)
def _packages_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trainer asks dozens of times whether PEFT is there, and its metadata is parsed."""
    monkeypatch.setattr(metadata, "metadata", _metadata)
    monkeypatch.setattr(metadata, "version", _version)


@pytest.fixture
def trainer_in(tmp_path: Path) -> Callable[..., AgentGRPOTrainer]:
    """Return a function that makes a small trainer on the toy game."""

    def make(
        folder: str = "run",
        *,
        env: dict[str, Any] | None = None,
        rollout: dict[str, Any] | None = None,
        model: Any = None,
        trainer: dict[str, Any] | None = None,
        **options: Any,
    ) -> AgentGRPOTrainer:
        defaults: dict[str, Any] = {
            "num_generations": 4,
            "per_device_train_batch_size": 4,
            "gradient_accumulation_steps": 2,
            "learning_rate": 1e-2,
            "max_steps": 2,
            "disable_tqdm": True,
            **NO_EVALUATION,
        }
        return AgentGRPOTrainer(
            make_model() if model is None else model,
            EnvArguments(**{"env": [ENV_ID], "action_format": "plain", **(env or {})}),
            args=AgentGRPOConfig(output_dir=str(tmp_path / folder), **{**defaults, **options}),
            rollout=RolloutArguments(**{"max_tokens_per_turn": 4, **(rollout or {})}),
            evaluation=EvaluationArguments(eval_samples=2),
            processing_class=make_tokenizer(),
            **(trainer or {}),
        )

    return make


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """Return a folder with an adapter of the tiny model and nothing else."""
    model, _ = load_policy(ModelArguments(model_name_or_path="tiny"))
    adapted = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.fill_(0.1)
    adapted.save_pretrained(tmp_path / "adapter")
    return tmp_path / "adapter"
