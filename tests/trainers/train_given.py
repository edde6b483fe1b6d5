"""Trains on given trajectories, alone or as one of several processes; run as a script.

`train_given.py FOLDER PER_DEVICE` writes `FOLDER/<loss type>.json` and `.safetensors`, and each
process its episodes.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_model
from trl import GRPOConfig

from agentgym_envs.trajectories.trajectory import Trajectory, write_jsonl
from tests.trainers.toys import ENV_ID, FAILED, Given, episode, make_model, make_tokenizer, trace
from trainers.credit.rewards import agent_reward
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import RolloutArguments
from trainers.trl_bridge import task_dataset

LOSS_TYPES = ("grpo", "dapo", "dr_grpo", "cispo", "bnpo")
"""The last one with an entropy bonus."""
NUM_STEPS = 2


def step_episodes(step: int) -> list[Trajectory]:
    """Eight episodes, two groups of four: one failed, one in windows, the rest of all lengths.

    One was cut, and is masked. In each half is one of many windows, whose lengths are alike or not.
    In the second step the first group was paid alike.
    """
    windows = [trace(2, [1, 1, 0, 1], seed=100 + step), trace(5, [0, 1], seed=200 + step)]
    played = [
        episode(
            float((n + step) % 3 == 0 and not (step == 1 and n < 4)),
            traces=[trace(2 + n, [1, 0] * (1 + n % 4), seed=n)],
        )
        for n in range(8)
    ]
    played[6] = replace(played[6], status="truncated")
    played[step] = FAILED
    played[(3 * step + 1) % 8] = episode(1.0, traces=windows)
    alike = [trace(8, [1, 0, 1], seed=300 + n) for n in range(6)]
    played[3] = episode(1.0 - step, traces=alike)
    unlike = [trace(16, [1, 1], seed=400), *(trace(1, [1], seed=401 + n) for n in range(6))]
    played[7] = episode(0.5, traces=unlike)
    return played


class Keeping(AgentGRPOTrainer):
    """Plays this process's share of the given episodes, and writes it to a file."""

    def __init__(self, **kwargs: Any) -> None:
        rollout = RolloutArguments(mask_truncated_episodes=True)
        super().__init__(env=ENV_ID, rollout=rollout, **kwargs)
        self.player.rollout = Given(self.share)  # type: ignore[assignment]

    def share(self, task_ids: list[str]) -> list[Trajectory]:
        first = self.accelerator.process_index * len(task_ids)
        return step_episodes(self.state.global_step)[first : first + len(task_ids)]

    def keep_episodes(self, trajectories: list[Trajectory]) -> None:
        name = f"{self.loss_type}_{self.state.global_step}_{self.accelerator.process_index}.jsonl"
        write_jsonl(Path(self.args.output_dir).parent / name, trajectories)


def train(folder: Path, loss_type: str, per_device: int) -> None:
    args = GRPOConfig(
        str(folder / "run"), use_cpu=True, bf16=False, gradient_checkpointing=False, beta=0.0,
        report_to="none", save_strategy="no", logging_steps=1, max_steps=NUM_STEPS,
        learning_rate=1e-3, lr_scheduler_type="constant", loss_type=loss_type, num_generations=4,
        per_device_train_batch_size=per_device, gradient_accumulation_steps=2, disable_tqdm=True,
        dataloader_pin_memory=False,
        vllm_importance_sampling_mode="token_truncate", vllm_importance_sampling_clip_min=0.5,
        entropy_coef=0.1 * (loss_type == "bnpo"),
    )  # fmt: skip
    trainer = Keeping(
        model=make_model(), args=args, reward_funcs=agent_reward,
        train_dataset=task_dataset([f"letters_{n}" for n in range(8)]),
        processing_class=make_tokenizer(),
    )  # fmt: skip
    trainer.train()
    if trainer.is_world_process_zero():
        (folder / f"{loss_type}.json").write_text(json.dumps(trainer.state.log_history))
        model: Any = trainer.accelerator.unwrap_model(trainer.model)
        save_model(model, str(folder / f"{loss_type}.safetensors"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in LOSS_TYPES:
        train(Path(sys.argv[1]), name, int(sys.argv[2]))
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
