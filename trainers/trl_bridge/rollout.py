"""Our rollouts for a stock `trl.GRPOTrainer`. Knows TRL's `rollout_func` and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from agentgym_envs.trajectory import Trajectory
from trainers.credit.rewards import reward_columns
from trainers.trl_bridge.rows import rows_of

RolloutFunc = Callable[[list[str], Any], dict[str, Any]]


class Player(Protocol):
    """Plays tasks; `RolloutEngine` is one."""

    def run(self, task_ids: Sequence[str], *, global_step: int = 0) -> list[Trajectory]:
        """Play one episode per task id and return them in the same order."""


def make_rollout_func(player: Player) -> RolloutFunc:
    """Return a `rollout_func` for a stock `trl.GRPOTrainer`.

    Use it with `reward_funcs=agent_reward` and `train_dataset=task_dataset(task_ids)`, and sample
    at the trainer's own temperature, by which its loss divides.

    Args:
        player: plays task ids.
    """

    def rollout(prompts: list[str], trainer: Any) -> dict[str, Any]:
        with sampling_mode(trainer.model):
            trajectories = player.run(list(prompts), global_step=trainer.state.global_step)
        rows = rows_of(trajectories, filler_id=trainer.processing_class.pad_token_id)
        if rows.episode_of_row != list(range(len(prompts))):
            raise ValueError(
                "an episode has several token windows (keep_last_turns), which a stock GRPOTrainer "
                "cannot take; use trainers.grpo.AgentGRPOTrainer"
            )
        return {**rows.columns, **reward_columns(trajectories)}

    return rollout


@contextmanager
def sampling_mode(model: Any) -> Iterator[None]:
    """Put a model into evaluation mode without gradients, and back."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)
