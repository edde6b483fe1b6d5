"""GRPO on episodes: TRL's `GRPOTrainer` through our rollout, and `agentgym train grpo`.

Group-relative policy optimization (arXiv 2402.03300, eq. 3): an episode's advantage is its return
less its group's mean, over the group's deviation, on every token the policy sampled. Deviations:
1. Failed episodes are in no group's mean or deviation, and in no loss.
2. beta is 0 unless asked for, as in TRL.
"""

from __future__ import annotations

import sys

from trainers.online import OnlineTrainer, train_online


class AgentGRPOTrainer(OnlineTrainer):
    """`trl.GRPOTrainer` for agents in text environments; see `OnlineTrainer` for the arguments.

    ```python
    trainer = AgentGRPOTrainer("Qwen/Qwen2.5-3B-Instruct", "TextCraft", args=AgentGRPOConfig())
    trainer.train()
    ```
    """


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train grpo`."""
    return train_online(
        argv,
        algorithm="grpo",
        trainer=AgentGRPOTrainer,
        description="Train a policy by GRPO on the episodes it plays.",
    )


if __name__ == "__main__":
    sys.exit(main())
