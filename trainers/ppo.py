"""PPO with a critic on episodes of many turns, and `agentgym train ppo`.

Proximal policy optimization (arXiv 1707.06347): the clipped objective (eq. 7, TRL's own loss), with
advantages by GAE (arXiv 1506.02438) from a learned value function, trained beside the policy (eq.
9). What many turns ask for:
1. Time is the sampled tokens alone. What the environment wrote has no value that is used, no
   advantage and no loss; at its border the estimate goes on from the next sampled token's value.
2. A turn's reward lies on its last sampled token; an outcome reward on the episode's last one.
3. A truncated episode ends with value 0 by default: the horizon belongs to the task.
4. Episodes without a reward, such as failed ones, are in no advantage, no whitening and no loss.
5. Nothing is whitened of a batch whose rewards are all equal: the critic's error would be a whole
   step.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.command import train_online
from trainers.credit.advantages import token_turns
from trainers.credit.gae import (
    AdvantageEstimate,
    SampledTokenIndex,
    rewards_at_turn_ends,
    token_gae,
    turn_gae,
)
from trainers.models.critic import Critic
from trainers.models.loading import check_named, resolve_model
from trainers.online import OnlineTrainer
from trainers.options.configs import AgentPPOConfig
from trainers.options.errors import run_command
from trainers.tokens.chat import ChatFormat
from trainers.trl_bridge import EpisodeBatch
from trainers.trl_bridge.critics import CriticMixin

CRITIC_FOLDER = "critic"


class AgentPPOTrainer(CriticMixin, OnlineTrainer):
    """PPO with a critic for agents in text environments, with `OnlineTrainer`'s arguments.

    Without `reward_funcs` each turn has the environment's reward for it; with them the whole reward
    comes at the end. `train` leaves the critic in `output_dir/critic`.

    ```python
    trainer = AgentPPOTrainer("Qwen/Qwen2.5-3B-Instruct", "TextCraft", args=AgentPPOConfig())
    trainer.train()
    ```
    """

    config = takes = AgentPPOConfig

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kl_in_reward = self.args.kl_in_reward
        self.chat = ChatFormat.from_tokenizer(self.processing_class)
        self.use_critic(self._make_critic(), moves_policy=self.args.critic == "shared")

    def _make_critic(self) -> Critic:
        if self.args.critic != "own":
            return Critic.beside(self.model)
        if self.args.critic_model is None:
            return Critic.copied_from(self.model)
        named = resolve_model(self.args.critic_model)
        check_named(named)
        return Critic.from_pretrained(named, dtype=self.model.dtype)

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (R, T) advantages, and put the values and their targets into the batch."""
        mask, rows = episodes.action_mask, episodes.episode_of_row
        turn = token_turns(mask, rows)
        axis = SampledTokenIndex.from_mask(mask, rows, len(episodes.trajectories))
        values = self.predict_values(batch) * mask
        env_rewards = rewards_at_turn_ends(self.turn_rewards(episodes), turn, rows)
        rewards = env_rewards
        if self.kl_in_reward:
            rewards = env_rewards - self.beta * self.measures.kl_of(batch, episodes)
        by_turn = self.args.gae_level == "turn"
        estimate = partial(turn_gae, turn=turn) if by_turn else token_gae
        credit = estimate(
            rewards,
            values,
            axis,
            gamma=self.args.gamma,
            lam=self.args.lam,
            critic_lam=self.args.critic_lam,
            bootstrap=self._values_at_truncation(episodes),
        )
        batch["values"] = values
        batch["returns"] = credit.returns
        batch["value_mask"] = credit.value_mask
        batch["num_values"] = self._log_values(values, credit, episodes)
        if not self.args.whiten_advantages:
            return credit.advantages
        without_critic = estimate(
            env_rewards,
            torch.zeros_like(values),
            axis,
            gamma=self.args.gamma,
            lam=1.0,
            critic_lam=1.0,
        )
        discounted = axis.gather(without_critic.returns)[:, 0]
        return self.whiten(credit.advantages, discounted, episodes)

    def _values_at_truncation(self, episodes: EpisodeBatch) -> torch.Tensor | None:
        """Return (E,) values of the states that truncated episodes were left in, 0 for others.

        An episode that its token budget ended has no room for the observation that it was left
        with, so that state has no value.
        """
        if not self.args.bootstrap_truncated:
            return None
        truncated = [
            index
            for index, trajectory in enumerate(episodes.trajectories)
            if trajectory.status == "truncated"
            and trajectory.truncated_by != "token_budget"
            and trajectory.traces
        ]
        values = torch.zeros(len(episodes.trajectories), device=episodes.action_mask.device)
        sequences = [self._ids_after(episodes.trajectories[index]) for index in truncated]
        values[truncated] = self.values_after(sequences)
        return values

    def _ids_after(self, trajectory: Trajectory) -> list[int]:
        _, rollout, *_ = self.run_options
        return self.chat.ids_after(trajectory, rollout.env_history(trajectory.env_id))

    def _log_values(
        self, values: torch.Tensor, credit: AdvantageEstimate, episodes: EpisodeBatch
    ) -> torch.Tensor:
        """Log how well the critic predicted the targets, and return the number of trained values.

        The explained variance is that of the targets, by the values of when the episodes were
        played: 1 is perfect, 0 no better than a constant.
        """
        predicted, target = values[credit.value_mask], credit.returns[credit.value_mask]
        error = target - predicted
        sums = torch.stack(
            [
                predicted.sum(),
                target.sum(),
                error.sum(),
                predicted.new_tensor(len(predicted)),
            ]
        )
        *totals, count = episodes.reduce_sum(sums)
        value_mean, target_mean, error_mean = (total / count.clamp(min=1) for total in totals)
        squares = torch.stack(
            [((target - target_mean) ** 2).sum(), ((error - error_mean) ** 2).sum()]
        )
        spread, unexplained = episodes.reduce_sum(squares).tolist()
        self.log_critic(value_mean=value_mean.item(), return_mean=target_mean.item())
        if spread > 0:  # else there is nothing to explain
            self.log_critic(explained_variance=1 - unexplained / spread)
        return count

    @contextmanager
    def in_training(self) -> Iterator[None]:
        """Surround a whole training. Where it ends well, the critic is saved beside the policy."""
        with super().in_training():
            yield
        if self.is_world_process_zero():
            self.critic.save(Path(self.args.output_dir) / CRITIC_FOLDER)


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train ppo`."""
    return train_online(
        argv,
        algorithm="ppo",
        trainer=AgentPPOTrainer,
        description="Train a policy and a critic by PPO on the episodes the policy plays.",
    )


if __name__ == "__main__":
    sys.exit(run_command(main))
