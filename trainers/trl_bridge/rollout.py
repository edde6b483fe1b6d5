"""Our rollouts for a stock `trl.GRPOTrainer`, as its `rollout_func`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from trainers.credit.rewards import episode_columns, episode_metrics, reward_columns
from trainers.rollout.rollout import Rollout
from trainers.trl_bridge.batch import make_rows
from trainers.trl_bridge.passes import sampling_mode

RolloutFunc = Callable[[list[str], Any], dict[str, Any]]


def make_rollout_func(rollout: Rollout) -> RolloutFunc:
    """Return a `rollout_func` for a stock `trl.GRPOTrainer`.

    Use it with `reward_funcs=agent_reward` and `train_dataset=task_dataset(task_ids)`. Episodes are
    sampled at the trainer's temperature, by which its loss divides. Their metrics are logged.

    Args:
        rollout: plays task ids.

    Raises:
        ValueError: when it plays, an episode has several traces.
    """
    batches = itertools.count()

    def play(prompts: list[str], trainer: Any) -> dict[str, Any]:
        step = trainer.state.global_step
        with sampling_mode(trainer.model):
            trajectories = rollout.run(
                list(prompts),
                global_step=step,
                temperature=trainer.args.temperature,
                stream=(trainer.args.process_index, step, next(batches)),
            )
        rows = make_rows(trajectories, filler_id=trainer.processing_class.pad_token_id)
        if rows.episode_of_row != list(range(len(prompts))):
            raise ValueError(
                "an episode has several traces (its history, or a chat template that changes "
                "earlier turns), which a stock GRPOTrainer cannot take; use "
                "trainers.grpo.AgentGRPOTrainer"
            )
        returns = [trajectory.episode_return for trajectory in trajectories]
        metrics = episode_metrics(rewards=returns, **episode_columns(trajectories))
        for name, value in metrics.items():
            trainer._log_metric(name, value)
        return {**rows.columns, **reward_columns(trajectories)}

    return play
