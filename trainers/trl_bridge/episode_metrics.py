"""What is logged of a batch of episodes, in place of what TRL logs of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import torch
from accelerate.utils import gather_object

from trainers.credit.by_environment import metrics_by_environment
from trainers.credit.rewards import episode_columns
from trainers.trl_bridge.episode_batch import EpisodeBatch


class EpisodeMetricsMixin:
    """A mixin before `EpisodeTrainer`'s bases: metrics of the episodes of all processes."""

    def _log_advantages(self: Any, advantages: torch.Tensor, episodes: EpisodeBatch) -> None:
        """Log each episode's advantage, the mean over its tokens, in place of TRL's own of it."""
        if advantages.ndim > 1:
            advantages = episodes.mean_over_tokens(advantages)
        ours = self.accelerator.gather(advantages).tolist()
        logged = self._logs["advantages"]
        for _ in range(min(len(ours), len(logged))):
            logged.pop()
        logged.extend(ours)

    def _horizons(self: Any) -> dict[str, float]:
        """Return the horizon, or the mean over environments and that of each, by metric."""
        schedule, step = self.rollout.schedule, self.horizon_step
        if schedule is None:
            return {}
        if not isinstance(schedule, Mapping):
            return {"horizon": float(schedule(step))}
        own = {self.environment_names[name]: float(of(step)) for name, of in schedule.items()}
        return {
            "horizon": fmean(own.values()),
            **{f"horizon/{name}": horizon for name, horizon in own.items()},
        }

    def _log_episodes(self: Any, group_size: int) -> None:
        """Log metrics of the episodes of all processes."""
        trajectories = [*self.trajectories, *self.surplus]
        columns = episode_columns(trajectories)
        labels = list(self.environment_names.values())
        names = [labels[place] for place in self._environments(trajectories)]
        rewards = [*self._rewards.tolist(), *self.rewards_of(self.surplus)]
        if self.accelerator.num_processes > 1:
            columns = {name: gather_object(values) for name, values in columns.items()}
            names = gather_object(names)
        metrics = metrics_by_environment(
            names, rewards=rewards, columns=columns, group_size=group_size, environments=labels
        )
        logged = self._metrics["train" if self.model.training else "eval"]
        # TRL's own counts no group whose episodes all failed, and is 1 where there are no groups;
        # its reward is of all episodes together.
        for name in {"frac_reward_zero_std", "reward"} & {"frac_reward_zero_std", *metrics}:
            logged[name].pop()
            if not logged[name]:
                del logged[name]  # TRL logs None of an empty list
        for name, value in metrics.items():
            logged[name].append(value)
        if self.model.training:
            self.on_episodes(metrics)
