"""The episodes of a batch, beside TRL's tensors: an algorithm's advantages are made of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from accelerate.utils import gather_object

from agentgym_envs.core.tasks import scenario_of
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.credit.advantages import environments_that_vary, whiten_by_environment
from trainers.trl_bridge.rows import Rows, rows_of


@dataclass(frozen=True)
class EpisodeBatch:
    """The episodes of a batch, from which an algorithm makes their advantages.

    A row is a row of TRL's tensors: an episode's whole token sequence, or one of its token windows
    where its history is cut or rendered anew. The rows of an episode follow one another. Fillers
    are further rows, without an episode, for a number of rows that TRL can split.

    Attributes:
        trajectories: the E episodes of this process.
        rewards: (N,) float32, of the episodes of all processes; NaN for those that do not count
            (`trainers.credit.rewards`). Each `group_size` consecutive ones played the same task.
        group_size: episodes per task.
        first: the place of this process's first episode in `rewards`.
        episode_of_row: (R,) int64, the index in `trajectories` behind each row; -1 for fillers.
        action_mask: (R, T), 1 on sampled tokens.
        reduce_sum: adds up a tensor over the processes.
        gather: joins lists of the processes; small values that pickle.
        environment: (N,) int64, the number of each episode's environment.
        num_environments: of the run.
    """

    trajectories: list[Trajectory]
    rewards: torch.Tensor
    group_size: int
    first: int
    episode_of_row: torch.Tensor
    action_mask: torch.Tensor
    reduce_sum: Callable[[torch.Tensor], torch.Tensor]
    gather: Callable[[list[Any]], list[Any]]
    environment: torch.Tensor
    num_environments: int

    @classmethod
    def of(cls, trainer: Any, batch: dict[str, Any]) -> EpisodeBatch:
        """Take episodes without a reward out of a batch's mask, and return the episodes.

        Args:
            trainer: an `OnlineTrainer`.
            batch: TRL's padded tensors of its last batch.
        """
        accelerator, trajectories = trainer.accelerator, trainer.trajectories
        rewards, device = trainer.episode_rewards, batch["completion_mask"].device

        def reduce_sum(tensor: torch.Tensor) -> torch.Tensor:
            total: torch.Tensor = accelerator.reduce(tensor, reduction="sum")
            return total

        first = accelerator.process_index * len(trajectories)
        episode_of_row = torch.tensor(trainer.rows.episode_of_row, device=device)
        if rewards.isnan().any():
            of_row = rewards[first + episode_of_row.clamp(min=0)]
            leave_out_unrewarded(batch, of_row, reduce_sum=reduce_sum)
        is_training = trainer.model.training
        numbers = environments_of(trajectories, trainer.environment_names)
        return cls(
            trajectories=trajectories,
            rewards=rewards,
            group_size=trainer.num_generations if is_training else trainer.num_generations_eval,
            first=first,
            episode_of_row=episode_of_row,
            action_mask=batch["completion_mask"] * batch["tool_mask"],
            reduce_sum=reduce_sum,
            gather=gather_object if accelerator.num_processes > 1 else list,
            environment=accelerator.gather(torch.tensor(numbers, device=device)),
            num_environments=len(trainer.environment_names),
        )

    def local(self, values: torch.Tensor) -> torch.Tensor:
        """Return the part of (N,) values that belongs to this process's E episodes."""
        return values[self.first : self.first + len(self.trajectories)]

    def mean_over_tokens(self, values: torch.Tensor) -> torch.Tensor:
        """Return (E,), of (R, T) values the mean over each episode's sampled tokens."""
        of_row = self.episode_of_row.clamp(min=0)
        mask = self.action_mask * (self.episode_of_row >= 0)[:, None]
        sums = values.new_zeros(2, len(self.trajectories))
        sums[0].index_add_(0, of_row, (values * mask).sum(dim=1))
        sums[1].index_add_(0, of_row, mask.sum(dim=1).to(values))
        return sums[0] / sums[1].clamp(min=1)

    def whiten(
        self, values: torch.Tensor, rewards: torch.Tensor, *, by_environment: bool
    ) -> tuple[torch.Tensor, float]:
        """Give values mean 0 and variance 1 over the sampled tokens of all processes.

        Args:
            values: (R, T).
            rewards: (E,) of this process's episodes, which the values come from. Where those of
                all processes are alike, what is left in the values is a critic's error or a KL,
                and the whitened ones are 0: scaled up to variance 1, it would be a whole step.
            by_environment: of each environment by themselves.

        Returns:
            (R, T), and the share of the episodes that are in such a batch or environment.
        """
        environment, number = self.environment, self.num_environments
        if not by_environment:
            environment, number = torch.zeros_like(environment), 1
        paid = rewards.masked_fill(~self.trained, torch.nan).tolist()
        of_all = torch.tensor(self.gather(paid), device=rewards.device)
        varies = environments_that_vary(of_all, environment)
        row = self.episode_of_row.clamp(min=0)
        whitened = whiten_by_environment(
            values,
            self.action_mask * self.local(varies)[row][:, None],
            self.local(environment)[row],
            num_environments=number,
            reduce_sum=self.reduce_sum,
        )
        return whitened, 1 - varies.float().mean().item()

    @property
    def trained(self) -> torch.Tensor:
        """(E,) bool, the episodes of this process that have a reward and a sampled token."""
        trained = torch.zeros_like(self.counted)
        trained[self.episode_of_row[self.action_mask.any(dim=1)]] = True
        return trained

    @property
    def counted(self) -> torch.Tensor:
        """(E,) bool, the episodes of this process that have a reward."""
        return ~self.local(self.rewards).isnan()


def environments_of(trajectories: Sequence[Trajectory], names: Mapping[str, str]) -> list[int]:
    """Return the number of the environment of each episode.

    Args:
        trajectories: the episodes.
        names: of the run's environments, by the names in front of task ids.
    """
    if len(names) == 1:
        return [0] * len(trajectories)
    places = {name: place for place, name in enumerate(names)}
    return [places[scenario_of(trajectory.task_id)] for trajectory in trajectories]


def rows_of_all(trainer: Any, trajectories: Sequence[Trajectory]) -> Rows:
    """Return a batch's rows, as many in each process.

    Args:
        trainer: an `OnlineTrainer`.
        trajectories: this process's episodes.
    """

    def rows(at_least: int = 0) -> Rows:
        return rows_of(
            trajectories,
            filler_id=trainer.processing_class.pad_token_id,
            multiple_of=trainer.args.steps_per_generation,
            at_least=at_least,
            mask_truncated=trainer.mask_truncated_episodes,
        )

    alone, accelerator = rows(), trainer.accelerator
    if accelerator.num_processes == 1:
        return alone
    # TRL gathers numbers of rows, for which every process needs as many rows as the others.
    count = torch.tensor([len(alone.episode_of_row)], device=accelerator.device)
    return rows(at_least=int(accelerator.gather(count).max()))


def leave_out_unrewarded(
    batch: dict[str, Any],
    rewards: torch.Tensor,
    *,
    reduce_sum: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """Take the tokens of rows without a reward out of TRL's mask and out of its token count.

    Args:
        batch: TRL's tensors.
        rewards: (R,), of the episode of each row; NaN where it has none.
        reduce_sum: adds up a tensor over the processes.
    """
    unrewarded = rewards.isnan()
    tokens = (batch["completion_mask"] * batch["tool_mask"])[unrewarded].sum()
    batch["tool_mask"] = batch["tool_mask"] * ~unrewarded[:, None]
    batch["num_items_in_batch"] = batch["num_items_in_batch"] - reduce_sum(tokens)
