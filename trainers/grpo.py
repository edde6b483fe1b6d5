"""GRPO on episodes: TRL's `GRPOTrainer` through our rollout, and `agentgym train grpo`.

Group-relative policy optimization (arXiv 2402.03300, eq. 3): an episode's advantage is its return
less its group's mean, over the group's deviation, on every token the policy sampled. Deviations:
1. Failed episodes are in no group's mean or deviation, and in no loss.
2. beta is 0 unless asked for, as in TRL.
"""

from __future__ import annotations

import sys
from typing import Any

from agentgym_envs.trajectory import Trajectory
from trainers.advantages import discounted_returns, relative_to_anchor, turn_of_token
from trainers.configs import AgentGRPOConfig
from trainers.extras import MISSING_TRAIN_EXTRA
from trainers.online import OnlineTrainer, train_online
from trainers.trl_bridge import EpisodeBatch

try:
    import torch
except ImportError as error:
    raise ImportError(MISSING_TRAIN_EXTRA) from error


class AgentGRPOTrainer(OnlineTrainer):
    """`trl.GRPOTrainer` for agents in text environments; see `OnlineTrainer` for the arguments.

    ```python
    trainer = AgentGRPOTrainer("Qwen/Qwen2.5-3B-Instruct", "TextCraft", args=AgentGRPOConfig())
    trainer.train()
    ```

    With `turn_advantage_weight` > 0 it is GiGPO (arXiv 2505.10978, eq. 8): turns that a group
    played in the same state are compared too, and each adds its own advantage to the episode's.
    """

    config = AgentGRPOConfig

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (E,) group-relative advantages, or (R, T) where turns have their own."""
        of_episode: torch.Tensor = batch["advantages"]
        weight = getattr(self.args, "turn_advantage_weight", 0.0)
        if weight == 0.0 or not self.model.training:
            return of_episode
        of_turn = turn_advantages(
            episodes.trajectories,
            group_size=episodes.group_size,
            discount=self.args.turn_discount,
            invalid_penalty=self.args.invalid_action_penalty,
            scale=self.args.scale_rewards != "none",
            anchor=self.args.turn_anchor,
        )
        longest = max(len(turns) for turns in of_turn)
        table = of_episode.new_zeros((len(of_turn), longest + 1))
        for index, values in enumerate(of_turn):
            table[index, : len(values)] = torch.tensor(values)
        turn = turn_of_token(episodes.action_mask, episodes.episode_of_row)
        episode = episodes.episode_of_row.clamp(min=0)
        return of_episode[episode][:, None] + weight * table[episode[:, None], turn]


def turn_advantages(
    trajectories: list[Trajectory],
    *,
    group_size: int,
    discount: float,
    invalid_penalty: float,
    scale: bool,
    anchor: str,
) -> list[list[float]]:
    """Return the advantage of each turn over those that the group played in the same state.

    Args:
        trajectories: whole groups of `group_size`, one after the other.
        group_size: episodes per task.
        discount: of the rewards of later turns.
        invalid_penalty: taken from the reward of an invalid action.
        scale: divide by the state's deviation.
        anchor: what tells a state: `"observation"`, what the turn read, or `"history"`, all that
            was read up to there.
    """
    returns: list[float] = []
    anchors: list[tuple[Any, ...]] = []
    for index, trajectory in enumerate(trajectories):
        if trajectory.status == "failed":
            continue
        turns = trajectory.turns
        rewards = [t.reward - invalid_penalty * (not t.is_valid_action) for t in turns]
        returns += discounted_returns(rewards, discount)
        read = [turn.observation for turn in turns]
        for place in range(len(turns)):
            seen = tuple(read[: place + 1]) if anchor == "history" else (read[place],)
            anchors.append((index // group_size, *seen))
    values = iter(relative_to_anchor(returns, anchors, scale=scale))
    return [[] if t.status == "failed" else [next(values) for _ in t.turns] for t in trajectories]


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
