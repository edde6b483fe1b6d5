"""GRPO on episodes: TRL's `GRPOTrainer` through our rollout, and `agentgym train grpo`.

Group-relative policy optimization (arXiv 2402.03300, eq. 3): an episode's advantage is its return
less its group's mean, over the group's deviation, on every token the policy sampled. Deviations:
1. Episodes without a reward, such as failed ones, are in no group's mean or deviation, and in no
   loss.
2. beta is 0 by default, as in TRL.
"""

from __future__ import annotations

import logging
import sys
from functools import cache
from typing import Any

import torch

from trainers.command import train_online
from trainers.credit.advantages import (
    divide_by_deviation,
    divide_by_group_mean,
    keep_by_variance,
    normalized_sum,
    subtract_group_mean,
    token_turns,
)
from trainers.credit.turn_methods import (
    empg,
    gagpo,
    gigpo,
    hgpo,
    information_gain,
    pays_along_the_way,
    shared_turn_advantages,
    turn_returns,
)
from trainers.credit.turns import TurnBatch, mean_per_turn
from trainers.online import OnlineTrainer
from trainers.options.checks import BY_MEAN, BY_STATE, SUMMED
from trainers.options.configs import AgentGRPOConfig
from trainers.options.errors import UsageError, run_command
from trainers.rollout.players import Grouped, Lockstep
from trainers.rollout.resampling import DynamicSampling
from trainers.tokens.encoding import PieceEncoder
from trainers.training_tasks import row_task_ids
from trainers.trl_bridge import EpisodeBatch

logger = logging.getLogger(__name__)


class AgentGRPOTrainer(OnlineTrainer):
    """`trl.GRPOTrainer` for agents in text environments, with `OnlineTrainer`'s arguments.

    ```python
    trainer = AgentGRPOTrainer("Qwen/Qwen2.5-3B-Instruct", "TextCraft", args=AgentGRPOConfig())
    trainer.train()
    ```

    `turn_credit` names the credit of turns: GiGPO's advantage beside the episode's (arXiv
    2505.10978, eq. 8), or that of another method of `trainers.credit` in its place. One rule of
    division (`scale_rewards`; F_norm in GiGPO) holds for episodes and turns.
    """

    config = AgentGRPOConfig

    def make_player(self) -> Lockstep:
        """Return the player of the training batches, with branches and further groups."""
        options: Any = self.args
        if options.turn_credit == "information_gain":
            self.task_environments.check_right_answers()
        self._roots = options.branch_roots
        most = options.dynamic_sampling
        for name in ["branch_roots"] * bool(self._roots) + ["dynamic_sampling"] * (most > 1):
            self._check_groups_are_whole(name)
        if self._roots:
            self.task_environments.check_copies()
        if not self._roots and most <= 1:
            return super().make_player()
        dynamic = None
        if most > 1:
            dynamic = DynamicSampling(
                row_task_ids(self.train_dataset, option="dynamic_sampling"),
                group_size=self.num_generations,
                most=most,
                rewards_of=self.rewards_of,
                seed=options.seed,
            )
        return Grouped(
            self.rollout,
            self.rollout_options,
            group_size=self.num_generations,
            roots=self._roots,
            dynamic=dynamic,
        )

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (E,) group-relative advantages, or (R, T) where turns have their own."""
        episode_advantages = self._episode_advantages(episodes)
        args: Any = self.args
        is_kept = torch.ones_like(episode_advantages, dtype=torch.bool)
        if self.model.training and args.kept_variance < 1.0:
            is_kept = self._kept_episodes(episodes)
        credit = args.turn_credit
        if not self.model.training or (credit == "none" and not self._roots):
            return episode_advantages * is_kept
        turn = token_turns(episodes.action_mask, episodes.episode_of_row)
        if self._roots:
            names = [[id(turn) for turn in t.turns] for t in episodes.trajectories]
            own = episode_advantages.tolist(), names, episodes.counted.tolist()
            table = self._table(shared_turn_advantages(*own, group_size=episodes.group_size))
        else:
            table = self._table(
                self._turn_advantages(credit, batch, episodes, episode_advantages, turn)
            )
        episode = episodes.episode_of_row.clamp(min=0)
        token_advantages = table.to(episode_advantages)[episode[:, None], turn]
        if credit == "gigpo":
            token_advantages = (
                episode_advantages[episode][:, None] + args.turn_advantage_weight * token_advantages
            )
        return token_advantages * is_kept[episode][:, None]

    def _episode_advantages(self, episodes: EpisodeBatch) -> torch.Tensor:
        """Return (E,) group-relative advantages, scaled."""
        rewards, size = episodes.rewards, episodes.group_size
        if self.multi_objective_aggregation == SUMMED:
            centred = subtract_group_mean(rewards, size)
            advantages = self.scale_advantages(centred, rewards, episodes)
        else:
            weights = self.reward_weights.to(rewards.device)
            advantages = normalized_sum(self.rewards_per_function, weights, size)
        return episodes.local(advantages)

    def scale_advantages(
        self, advantages: torch.Tensor, rewards: torch.Tensor, episodes: EpisodeBatch
    ) -> torch.Tensor:
        """Return (N,) advantages as `scale_rewards` scales them, by (N,) rewards."""
        size = episodes.group_size
        if self.normalizes_by_environment:
            return super().scale_advantages(advantages, rewards, episodes)
        if self.args.scale_rewards == BY_MEAN:
            return divide_by_group_mean(advantages, rewards, size)
        return divide_by_deviation(advantages, rewards, size, scale=self.scale_rewards)

    def _check_groups_are_whole(self, name: str) -> None:
        """Check that this process plays all of each group, for the environment's rewards."""
        processes = self.accelerator.num_processes
        if processes > 1:
            raise UsageError(
                f"{name} plays groups in one training process, got {processes}; start one, or "
                f"leave {name} out"
            )
        if name == "dynamic_sampling" and not self._rewards_turns:
            raise UsageError(
                "dynamic_sampling goes by what environments pay, got reward_funcs; let a wrapper "
                "pay it (`wrapper`), or leave one of the two out"
            )

    def _kept_episodes(self, episodes: EpisodeBatch) -> torch.Tensor:
        """Return (E,) bool, the episodes of groups that are trained on, and log their share."""
        share = self.args.kept_variance
        is_kept = keep_by_variance(episodes.rewards, episodes.group_size, share=share)
        self.logged["frac_groups_kept"].append(is_kept.double().mean().item())
        return episodes.local(is_kept)

    def _turn_advantages(
        self,
        credit: str,
        batch: dict[str, Any],
        episodes: EpisodeBatch,
        episode_advantages: torch.Tensor,
        turn: torch.Tensor,
    ) -> list[list[float]]:
        """Return the advantages of each episode's turns, none for those that do not count."""
        args: Any = self.args
        measures = self._measures(credit, batch, episodes, turn)
        counted = episodes.counted.tolist()
        if measures is not None:  # an episode whose tokens are masked has no measures
            lengths = [len(trajectory.turns) for trajectory in episodes.trajectories]
            counted = [
                counts and len(measured) == length
                for counts, measured, length in zip(counted, measures, lengths, strict=True)
            ]
        turns = TurnBatch.from_trajectories(
            episodes.trajectories,
            self.turn_rewards(episodes),
            counted=counted,
            first=episodes.first,
            group_size=episodes.group_size,
            gather=episodes.gather,
            environment=episodes.environment.tolist(),
            anchor=args.turn_anchor,
            similarity=args.turn_similarity,
            measures=measures,
        )
        if credit in BY_STATE:
            self.logged["frac_turns_compared"].append(turns.share_met_again())
        advantages = episodes.gather(episode_advantages.tolist())
        values = self._credited(credit, turns, [advantages[episode] for episode in turns.episodes])
        return turns.local_values(values, first=episodes.first, count=len(episodes.trajectories))

    def _credited(
        self, credit: str, turns: TurnBatch, episode_advantages: list[float]
    ) -> list[float]:
        """Return (M,) the method's credit of each turn."""
        args: Any = self.args
        options = {"discount": args.turn_discount, "scale": args.scale_rewards}
        match credit:
            case "gigpo":
                return gigpo(turns, **options)
            case "hgpo":
                return hgpo(turns, **options, context=args.turn_context)
            case "gagpo":
                return gagpo(
                    turns, **options, lam=args.turn_lam, episode_advantages=episode_advantages
                )
            case "empg":
                return empg(turns, episode_advantages=episode_advantages)
            case "returns":
                self._warn_of_late_rewards(turns)
                return turn_returns(turns, **options)
            case _:
                return information_gain(turns, **options)

    def _measures(
        self, credit: str, batch: dict[str, Any], episodes: EpisodeBatch, turn: torch.Tensor
    ) -> list[list[float]] | None:
        """Return the measures of each turn that the method needs besides rewards, if any."""
        if credit == "empg":
            entropies = self.measures.entropies_of(batch)
            rows, count = episodes.episode_of_row, len(episodes.trajectories)
            return mean_per_turn(entropies, turn, rows, count)
        if credit == "information_gain":
            return self.measures.answer_probabilities(
                batch, episodes, turn, answer_ids=cache(self._answer_ids)
            )
        return None

    def _answer_ids(self, task_id: str) -> tuple[list[int], int]:
        """Return the ids of the right answer's action up to its end, and where it begins."""
        action, answer = self.task_environments.right_answer(task_id)
        start = max(action.rfind(answer), 0)  # of the whole action where it is written otherwise
        end = start + len(answer) if start else len(action)
        encoder = PieceEncoder(self.processing_class)
        whole, before = (
            encoder.encode([encoder.content(text)]) for text in (action[:end], action[:start])
        )
        pairs = zip(whole, before, strict=False)
        return whole, next((n for n, (one, other) in enumerate(pairs) if one != other), len(before))

    def _table(self, turn_advantages: list[list[float]]) -> torch.Tensor:
        """Return (E, K + 1) of lists of at most K turns. The last column, of no turn, is 0."""
        longest = max(len(turns) for turns in turn_advantages)
        table = torch.zeros(len(turn_advantages), longest + 1, dtype=torch.float64)
        for index, values in enumerate(turn_advantages):
            table[index, : len(values)] = torch.tensor(values, dtype=torch.float64)
        return table

    def _warn_of_late_rewards(self, turns: TurnBatch) -> None:
        if self._warned_of_late_rewards or not any(turns.rewards) or pays_along_the_way(turns):
            return
        self._warned_of_late_rewards = True
        logger.warning(
            "turn_credit=returns is for environments that pay along the way, and in this batch "
            "only last turns were rewarded, so that a turn's return says no more than its "
            "episode's; use --turn_credit gigpo or gagpo"
        )

    _warned_of_late_rewards = False
    _roots = 0


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train grpo`."""
    return train_online(
        argv,
        algorithm="grpo",
        trainer=AgentGRPOTrainer,
        description="Train a policy by GRPO on the episodes it plays.",
    )


if __name__ == "__main__":
    sys.exit(run_command(main))
