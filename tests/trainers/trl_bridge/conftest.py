from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from trl import GRPOConfig

from agentgym_envs.trajectories.trajectory import Trajectory
from tests.trainers.toys import make_model, make_tokenizer
from tests.trainers.trl_bridge.scripted import Scripted
from trainers.credit.rewards import agent_reward
from trainers.trl_bridge import task_dataset


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[..., Scripted]:
    def make(
        trajectories: Sequence[Trajectory],
        *,
        model: Any = None,
        reward_funcs: Any = agent_reward,
        **options: Any,
    ) -> Scripted:
        defaults: dict[str, Any] = {
            "output_dir": str(tmp_path),
            "use_cpu": True,
            "bf16": False,
            "gradient_checkpointing": False,
            "report_to": "none",
            "save_strategy": "no",
            "logging_steps": 1,
            "max_steps": 1,
            "learning_rate": 1e-2,
            "lr_scheduler_type": "constant",
            "num_generations": len(trajectories),
            "per_device_train_batch_size": len(trajectories),
            "loss_type": "grpo",
            "disable_tqdm": True,
            "dataloader_pin_memory": False,
            "vllm_importance_sampling_correction": False,  # the given log-probabilities are made up
        }
        args = GRPOConfig(**{**defaults, **options})
        groups = len(trajectories) // args.num_generations
        return Scripted(
            trajectories,
            model=make_model() if model is None else model,
            reward_funcs=reward_funcs,
            args=args,
            train_dataset=task_dataset([f"letters_{n}" for n in range(groups)]),
            processing_class=make_tokenizer(),
        )

    return make
