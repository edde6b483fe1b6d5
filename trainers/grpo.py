"""GRPO on episodes: TRL's `GRPOTrainer` through our rollout, and `agentgym train grpo`.

Group-relative policy optimization (arXiv 2402.03300, eq. 3): an episode's advantage is its return
less its group's mean, over the group's deviation, on every token the policy sampled. Deviations:
1. Episodes without a reward, such as failed ones, are in no group's mean or deviation, and in no
   loss.
2. beta is 0 unless asked for, as in TRL.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from trainers.options.algorithms import ALGORITHMS, answer_help

if __name__ == "__main__":  # the help at once, before TRL is imported
    answer_help("grpo")

import torch

from agentgym_envs.limits import without_turn_line
from agentgym_envs.trajectory import Trajectory
from trainers.credit.advantages import (
    anchor_state_advantages,
    discounted_returns,
    scale_by_environment,
    subtract_group_mean,
    turn_of_token,
)
from trainers.online import OnlineTrainer, train_online
from trainers.options.configs import AgentGRPOConfig
from trainers.options.errors import run_command
from trainers.trl_bridge import EpisodeBatch


class AgentGRPOTrainer(OnlineTrainer):
    """`trl.GRPOTrainer` for agents in text environments; see `OnlineTrainer` for the arguments.

    ```python
    trainer = AgentGRPOTrainer("Qwen/Qwen2.5-3B-Instruct", "TextCraft", args=AgentGRPOConfig())
    trainer.train()
    ```

    With `turn_advantage_weight` > 0 it is GiGPO (arXiv 2505.10978, eq. 8): turns that a group
    played in the same state are compared too, and each adds its own advantage to the episode's.
    As in the paper, one rule of division (F_norm, here `scale_rewards`) holds for both.
    """

    config = AgentGRPOConfig

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (E,) group-relative advantages, or (R, T) where turns have their own."""
        of_episode: torch.Tensor = batch["advantages"]
        if self.normalizes_by_environment:
            centred = subtract_group_mean(episodes.rewards, episodes.group_size)
            of_episode = episodes.local(
                scale_by_environment(centred, episodes.rewards, episodes.environment)
            )
        weight = getattr(self.args, "turn_advantage_weight", 0.0)
        if weight == 0.0 or not self.model.training:
            return of_episode
        of_turn = turn_advantages(
            episodes.trajectories,
            counted=episodes.counted.tolist(),
            first=episodes.first,
            group_size=episodes.group_size,
            gather=episodes.gather,
            discount=self.args.turn_discount,
            invalid_penalty=self.args.invalid_action_penalty,
            scale=self.args.scale_rewards,
            environment=episodes.environment.tolist(),
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
    counted: Sequence[bool],
    first: int,
    group_size: int,
    gather: Callable[[list[Any]], list[Any]],
    discount: float,
    invalid_penalty: float,
    scale: str,
    environment: Sequence[int],
    anchor: str,
) -> list[list[float]]:
    """Return the advantage of each turn over those that its group played in the same state.

    Args:
        trajectories: the episodes of this process; a group's may lie in several.
        counted: which of them have a reward; the others are in no state.
        first: the place of the first one among the episodes of all processes.
        group_size: episodes per task; the groups follow one another.
        gather: joins lists of the processes.
        discount: of the rewards of later turns.
        invalid_penalty: taken from the reward of an invalid action.
        scale: as `scale_rewards`: what an advantage is divided by is the deviation of the returns
            of the turns in its state ("group"), in the batch or in its environment, or 1 ("none").
        environment: the number of each episode's environment, for the episodes of all processes.
        anchor: what makes two states the same: `"observation"`, what the turn read, or
            `"history"`, all that was read up to there.

    Returns:
        for each episode of this process, a value per turn; none for those that do not count.
    """
    own: list[tuple[tuple[int, int], tuple[int, bytes], float]] = []
    for episode, (trajectory, counts) in enumerate(zip(trajectories, counted, strict=True), first):
        if not counts:
            continue
        turns = trajectory.turns
        rewards = [t.reward - invalid_penalty * (not t.is_valid_action) for t in turns]
        returns = discounted_returns(rewards, discount)
        states = _states([without_turn_line(turn.observation) for turn in turns], anchor)
        for number, (state, value) in enumerate(zip(states, returns, strict=True)):
            own.append(((episode, number), (episode // group_size, state), value))
    turns_of_all = gather(own)
    states_of_all = [state for _, state, _ in turns_of_all]
    scale_sets: dict[str, Sequence[Hashable] | None] = {
        "group": states_of_all,
        "batch": [0] * len(turns_of_all),
        "environment": [environment[episode] for (episode, _), *_ in turns_of_all],
        "none": None,
    }
    values = anchor_state_advantages(
        [value for *_, value in turns_of_all], states_of_all, scale_sets=scale_sets[scale]
    )
    advantages = {place: value for (place, *_), value in zip(turns_of_all, values, strict=True)}
    return [
        [advantages[episode, n] for n in range(len(trajectory.turns))] if counts else []
        for episode, (trajectory, counts) in enumerate(
            zip(trajectories, counted, strict=True), first
        )
    ]


def _states(observations: Sequence[str], anchor: str) -> Iterator[bytes]:
    """Name each turn's state by a digest, which is short enough to be sent around."""
    read = blake2b(digest_size=16)
    for observation in observations:
        if anchor == "observation":
            read = blake2b(digest_size=16)
        read.update(observation.encode("utf-8", "surrogatepass") + b"\0")
        yield read.digest()


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train grpo`."""
    return train_online(
        argv,
        algorithm="grpo",
        trainer=AgentGRPOTrainer,
        description=ALGORITHMS["grpo"].description,
    )


if __name__ == "__main__":
    sys.exit(run_command(main))
