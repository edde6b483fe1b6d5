"""RLOO on episodes, and `agentgym train rloo`.

REINFORCE leave-one-out (arXiv 2402.14740, eq. 6): an episode's advantage is its return less the
mean of the other episodes on the same task, on every token the policy sampled, and not divided by a
deviation. Episodes without a reward, such as failed ones, are in no mean and in no loss. Built on
TRL's GRPO trainer, because TRL's own RLOO trainer can neither play nor mask what an environment
wrote.

One deviation: equation 6 weighs an episode by its whole log-probability, a sum over its tokens;
here the default is their mean (`loss_type="grpo"`), so that long episodes do not drown short ones.
`--loss_type dr_grpo` sums, and is then unbiased.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from trainers.command import train_online
from trainers.credit.advantages import leave_one_out
from trainers.online import OnlineTrainer
from trainers.options.configs import AgentRLOOConfig
from trainers.options.errors import run_command
from trainers.trl_bridge import EpisodeBatch


class AgentRLOOTrainer(OnlineTrainer):
    """RLOO for agents in text environments, with `OnlineTrainer`'s arguments."""

    config = AgentRLOOConfig

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (E,): each episode's return less the mean of the others of its group."""
        advantages = leave_one_out(episodes.rewards, episodes.group_size)
        return episodes.local(self.scale_advantages(advantages, episodes.rewards, episodes))


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train rloo`."""
    return train_online(
        argv,
        algorithm="rloo",
        trainer=AgentRLOOTrainer,
        description="Train a policy by RLOO on the episodes it plays.",
    )


if __name__ == "__main__":
    sys.exit(run_command(main))
