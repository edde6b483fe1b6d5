"""Trains by PPO on given trajectories, alone or as one of several processes; run as a script.

`train_given_ppo.py FOLDER PER_DEVICE` writes `FOLDER/<critic>.json` and `.safetensors`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from agentgym_envs.trajectories.trajectory import Trajectory
from tests.trainers.toys import ENV_ID, Given, make_model, make_tokenizer
from tests.trainers.train_given import step_episodes
from trainers.options.arguments import EnvArguments
from trainers.ppo import AgentPPOConfig, AgentPPOTrainer

KINDS = ("own", "shared")
NUM_STEPS = 3


def share_of(trainer: AgentPPOTrainer) -> Given:
    """A rollout that returns this process's share of the given episodes."""

    def run(task_ids: list[str]) -> list[Trajectory]:
        first = trainer.accelerator.process_index * len(task_ids)
        played = step_episodes(trainer.state.global_step)[first : first + len(task_ids)]
        for trajectory in played:
            runs = [("0" + "".join(map(str, t.action_mask))).count("01") for t in trajectory.traces]
            trajectory.turns = trajectory.turns[:1] * sum(runs)
        return played

    return Given(run)


def train(folder: Path, kind: str, per_device: int) -> None:
    args = AgentPPOConfig(
        str(folder / "run"), critic=kind, use_cpu=True, report_to="none", save_strategy="no",
        eval_strategy="no", max_steps=NUM_STEPS, learning_rate=1e-3, critic_learning_rate=1e-3,
        per_device_train_batch_size=per_device, gradient_accumulation_steps=2, disable_tqdm=True,
        critic_warmup_steps=1,
    )  # fmt: skip
    model = make_model()
    trainer = AgentPPOTrainer(
        model, EnvArguments(env=[ENV_ID]), args=args, processing_class=make_tokenizer()
    )
    trainer.player.rollout = share_of(trainer)
    torch.manual_seed(0)
    torch.nn.init.normal_(trainer.critic.head.weight, std=0.1)
    trainer.train()
    if trainer.is_world_process_zero():
        (folder / f"{kind}.json").write_text(json.dumps(trainer.state.log_history))
        modules: dict[str, Any] = {"policy": model.model, "critic": trainer.critic}
        save_file(
            {
                f"{name}.{key}": parameter.detach().clone()
                for name, module in modules.items()
                for key, parameter in module.named_parameters()
            },
            folder / f"{kind}.safetensors",
        )


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in KINDS:
        train(Path(sys.argv[1]), name, int(sys.argv[2]))
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
