"""REINFORCE++ on episodes, both variants, and `agentgym train reinforce_pp`.

Plain (arXiv 2501.03262, eq. 8 and 9): a token's advantage is the episode's return less beta times
the KL to the reference from that token on, whitened over all sampled tokens of the batch. With
`baseline="group"` (the same paper's REINFORCE++-baseline): the return less its group's mean,
whitened likewise; the KL is a term of the loss then, as in GRPO. Neither divides by a group's
deviation. Episodes without a reward, such as failed ones, are in no mean, no whitening and no
loss. Deviation: a batch whose rewards are all equal has no advantages; its KL
would be whitened to a whole step.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from trainers.command import train_online
from trainers.credit.advantages import kl_penalized_returns, subtract_group_mean
from trainers.credit.gae import SampledTokenIndex
from trainers.online import OnlineTrainer
from trainers.options.configs import AgentReinforcePPConfig
from trainers.options.errors import run_command
from trainers.trl_bridge import EpisodeBatch


class AgentReinforcePPTrainer(OnlineTrainer):
    """REINFORCE++ for agents in text environments, with `OnlineTrainer`'s arguments."""

    config = takes = AgentReinforcePPConfig

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kl_in_reward = self.args.baseline == "none"

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (R, T) whitened advantages."""
        row = episodes.episode_of_row.clamp(min=0)
        mask = episodes.action_mask
        if self.args.baseline == "group":
            rewards = episodes.local(subtract_group_mean(episodes.rewards, episodes.group_size))
            values = rewards[row][:, None] * mask
        else:
            rewards = episodes.local(episodes.rewards)
            time = SampledTokenIndex.from_mask(mask, episodes.episode_of_row, len(rewards))
            kl = self.measures.kl_of(batch, episodes)
            values = kl_penalized_returns(rewards.to(kl.dtype), kl, time, beta=self.beta)
        return self.whiten(values, rewards, episodes)


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train reinforce_pp`."""
    return train_online(
        argv,
        algorithm="reinforce_pp",
        trainer=AgentReinforcePPTrainer,
        description="Train a policy by REINFORCE++ on the episodes it plays.",
    )


if __name__ == "__main__":
    sys.exit(run_command(main))
