"""TRL's `GRPOTrainer` on trajectories: the base of every trainer that plays.

Written for TRL 1.16; each private hook that is used has a contract test.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentgym_envs.trajectory import Trajectory
from trainers.credit.rewards import (
    OWN_METRICS,
    episode_metrics,
    reward_columns,
    share_without_signal,
)
from trainers.evaluation.results import Stopwatch
from trainers.options.errors import MISSING_TRAIN_EXTRA
from trainers.trl_bridge.batches import has_signal, regroup, row_weights, trim_padding
from trainers.trl_bridge.epoch_order import EpochOrder
from trainers.trl_bridge.passes import CompactPasses
from trainers.trl_bridge.rows import Rows, rows_of

try:
    import torch
    from accelerate.utils import gather_object
    from trl import GRPOTrainer
except ImportError as error:
    raise ImportError(MISSING_TRAIN_EXTRA) from error


@dataclass(frozen=True)
class EpisodeBatch:
    """What an algorithm makes advantages from, besides TRL's tensors.

    Attributes:
        trajectories: the E episodes of this process.
        rewards: (N,) float32, of the episodes of all processes; NaN for failed ones. Each
            `group_size` consecutive ones played the same task.
        group_size: episodes per task.
        first: the place of this process's first episode in `rewards`.
        episode_of_row: (R,) int64, the index in `trajectories` behind each row; -1 for fillers.
        action_mask: (R, T), 1 on sampled tokens.
        reduce_sum: adds up a tensor over the processes.
        gather: joins lists of the processes; small values that pickle.
    """

    trajectories: list[Trajectory]
    rewards: torch.Tensor
    group_size: int
    first: int
    episode_of_row: torch.Tensor
    action_mask: torch.Tensor
    reduce_sum: Callable[[torch.Tensor], torch.Tensor]
    gather: Callable[[list[Any]], list[Any]]

    def local(self, values: torch.Tensor) -> torch.Tensor:
        """Return the part of (N,) values that belongs to this process's E episodes."""
        return values[self.first : self.first + len(self.trajectories)]


class EpisodeTrainer(CompactPasses, GRPOTrainer):  # type: ignore[misc]
    """`GRPOTrainer` whose rows come from trajectories.

    It lets an episode have several rows, leaves failed episodes out exactly, drops needless
    padding, passes over micro-batches in which no row has an advantage (what TRL logs of tokens,
    such as the entropy, then tells of the others), and logs how far sampled and trained
    log-probabilities are apart. A subclass plays the episodes in `play`, and may replace the
    group-relative advantages in `advantages_of`. With `beta` > 0 the KL term is averaged over
    rows, not episodes.

    Args:
        **kwargs: `trl.GRPOTrainer`'s, without `rollout_func`.
    """

    mask_truncated_episodes = False
    beta: float
    kl_in_reward = False
    """The KL to the reference is part of the reward, so the loss has no KL term."""
    _buffered_inputs: list[dict[str, Any]] | None
    _gap_sums: torch.Tensor
    play_metrics: dict[str, float]
    """What `play` wants logged besides what the episodes tell."""

    def __init__(self, **kwargs: Any) -> None:
        self.play_metrics = {}
        with warnings.catch_warnings():
            # TRL calls the hook experimental; the version is pinned and the hook under test.
            warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
            super().__init__(rollout_func=self._roll_out, **kwargs)

    def play(self, task_ids: list[str]) -> list[Trajectory]:
        """Play one episode per task id with the current policy."""
        raise NotImplementedError

    def keep_episodes(self, trajectories: list[Trajectory]) -> None:
        """Keep what this process played, its advantages included; does nothing here."""

    def on_episodes(self, metrics: dict[str, float]) -> None:
        """Take note of what a training batch of all processes was like; does nothing here.

        Args:
            metrics: `trainers.credit.rewards.episode_metrics`, and the share of groups without
                signal.
        """

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return the advantages, (E,) of this process's episodes or (R, T) of its tokens.

        Args:
            batch: TRL's padded tensors: `prompt_ids`, `completion_ids`, `completion_mask` and what
                else it has; entries of as many rows that are added here reach the loss.
            episodes: rewards and trajectories.
        """
        return batch["advantages"]

    def kl_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (R, T), how much likelier the policy found its tokens than the reference (k1).

        All 0 where `beta` is 0, for then there is no reference.
        """
        mask = episodes.action_mask
        if "ref_per_token_logps" not in batch:
            return torch.zeros(mask.shape, device=mask.device)
        policy = batch.get("old_per_token_logps", batch["sampling_per_token_logps"])
        kl: torch.Tensor = (policy - batch["ref_per_token_logps"]) * mask
        total, count = episodes.reduce_sum(torch.stack([kl.sum(), mask.sum()])).tolist()
        self._metrics["train" if self.model.training else "eval"]["kl"].append(
            total / max(count, 1)
        )
        return kl

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        per_function = super()._calculate_rewards(*args, **kwargs)  # (N, F), of all processes
        weighted = (per_function * self.reward_weights.to(per_function.device)).nansum(dim=1)
        self._rewards = weighted.masked_fill(per_function.isnan().all(dim=1), torch.nan)
        return per_function

    def _roll_out(self, prompts: list[str], _trainer: Any) -> dict[str, Any]:
        watch = Stopwatch()
        self.trajectories = self.play(list(prompts))
        for name, value in {**self.play_metrics, "rollout_time": watch.seconds}.items():
            self._log_metric(name, value)
        self._rows = self._rows_of_all(self.trajectories)
        return {**self._rows.columns, **reward_columns(self.trajectories)}

    def _rows_of_all(self, trajectories: list[Trajectory]) -> Rows:
        def rows(at_least: int = 0) -> Rows:
            return rows_of(
                trajectories,
                filler_id=self.processing_class.pad_token_id,
                multiple_of=self.args.steps_per_generation,
                at_least=at_least,
                mask_truncated=self.mask_truncated_episodes,
            )

        alone = rows()
        if self.accelerator.num_processes == 1:
            return alone
        # TRL gathers numbers of rows, for which every process needs as many rows as the others.
        count = torch.tensor([len(alone.episode_of_row)], device=self.accelerator.device)
        return rows(at_least=int(self.accelerator.gather(count).max()))

    def _log_metric(self, name: str, value: float) -> None:
        if not name.startswith(OWN_METRICS):
            super()._log_metric(name, value)

    def _tell_episodes(self, group_size: int) -> None:
        """Log what the episodes of all processes were like, whatever the reward functions log."""
        columns = reward_columns(self.trajectories)
        if self.accelerator.num_processes > 1:
            columns = {name: gather_object(values) for name, values in columns.items()}
        metrics = episode_metrics(**columns)
        if group_size > 1:
            without = share_without_signal(self._rewards.tolist(), group_size)
            metrics["groups/without_signal"] = without
        logged = self._metrics["train" if self.model.training else "eval"]
        for name, value in metrics.items():
            logged[name].append(value)
        if self.model.training:
            self.on_episodes(metrics)

    def _get_train_sampler(self, dataset: Any = None) -> EpochOrder:
        sampler = super()._get_train_sampler(dataset)
        generator = sampler.generator if sampler.shuffle else None
        return EpochOrder(
            sampler, generator=generator, seed=self.args.seed, state=lambda: self.state
        )

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        batch = super()._generate_and_score_completions(inputs)
        episode_of_row = torch.tensor(self._rows.episode_of_row, device=batch["advantages"].device)
        action_mask = batch["completion_mask"] * batch["tool_mask"]
        group_size = self.num_generations if self.model.training else self.num_generations_eval
        self._tell_episodes(group_size)
        episodes = EpisodeBatch(
            trajectories=self.trajectories,
            rewards=self._rewards,
            group_size=group_size,
            first=self.accelerator.process_index * len(self.trajectories),
            episode_of_row=episode_of_row,
            action_mask=action_mask,
            reduce_sum=lambda tensor: self.accelerator.reduce(tensor, reduction="sum"),
            gather=gather_object if self.accelerator.num_processes > 1 else list,
        )
        advantages = self.advantages_of(batch, episodes)
        is_per_token = advantages.ndim > 1
        if not is_per_token:
            advantages = advantages[episode_of_row.clamp(min=0)]
        self._rows.note_advantages(
            (advantages if is_per_token else advantages[:, None].expand_as(action_mask)).tolist()
        )
        self.keep_episodes(self.trajectories)
        valid = torch.tensor(
            sum(t.status != "failed" for t in self.trajectories),
            dtype=torch.float32,
            device=episode_of_row.device,
        )
        weights = row_weights(
            self.loss_type,
            tokens=action_mask.sum(dim=1),
            episode_of_row=episode_of_row,
            num_episodes=self.accelerator.gather(valid.unsqueeze(0)).mean().item(),
        )
        if is_per_token:
            batch["advantages"] = advantages * action_mask * weights[:, None]
        else:
            batch["advantages"] = advantages * weights
        return batch

    def _prepare_inputs(self, generation_batch: Any) -> dict[str, Any]:
        before = self._buffered_inputs
        inputs = super()._prepare_inputs(generation_batch)
        batches = self._buffered_inputs
        if batches is None or batches is before:
            return inputs
        steps = self.args.steps_per_generation
        per_update = self.args.gradient_accumulation_steps
        # Micro-batches may change places within one optimizer step only.
        together = min(per_update, steps)
        is_whole = steps % per_update == 0 or per_update % steps == 0
        if is_whole and not self._has_terms_of_micro_batches:
            batches = [
                batch
                for first in range(0, steps, together)
                for batch in regroup(batches[first : first + together])
            ]
        self._buffered_inputs = [trim_padding(batch) for batch in batches]
        return self._buffered_inputs[self._step % steps]

    @property
    def _has_terms_of_micro_batches(self) -> bool:
        """Some term is over the tokens of each micro-batch, so regrouping would change the loss."""
        return (
            self.loss_type == "bnpo"
            or self.top_entropy_quantile < 1.0
            or self._entropy_bonus_enabled
            or self.aux_loss_enabled
        )

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        outputs = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        self._last_logprobs = outputs[0].detach()
        return outputs

    def _is_without_gradient(self, inputs: dict[str, Any]) -> bool:
        has_kl = self.beta != 0.0 and not self.kl_in_reward
        other_terms = has_kl or self._entropy_bonus_enabled or self.aux_loss_enabled
        alone = self.accelerator.num_processes == 1  # several must do the same passes together
        training = alone and self.model.training
        return training and not other_terms and not bool(has_signal(inputs).any())

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        if self._is_without_gradient(inputs):
            # The two passes through the model would cost half of a step, for a gradient of 0.
            return sum(p.sum() * 0.0 for p in model.parameters() if p.requires_grad)  # type: ignore[return-value]
        beta = self.beta
        try:
            self.beta = 0.0 if self.kl_in_reward else beta
            loss = super()._compute_loss(model, inputs)
        finally:
            self.beta = beta
        self._log_gap(inputs)
        return loss

    def _log_gap(self, inputs: dict[str, Any]) -> None:
        """Log how far sampled and trained log-probabilities are apart, in nats.

        The trained ones are of all tokens: where top-k, top-p or min-p cut some off, the gap holds
        the logarithm of the probability that was left.
        """
        mask = inputs["completion_mask"] * inputs["tool_mask"]
        on_policy = inputs.get("old_per_token_logps", self._last_logprobs)
        gap = (on_policy - inputs["sampling_per_token_logps"]).abs().masked_fill(mask == 0, 0.0)
        sums = torch.stack([gap.sum(), mask.sum().to(gap.dtype)])
        sums = self.accelerator.reduce(sums, reduction="sum")
        largest = self.accelerator.gather(gap.max().unsqueeze(0)).max().item()
        logged = self._metrics["train" if self.model.training else "eval"]
        # TRL logs the mean of a list, and empties it: one entry each is kept up to date.
        before = logged.get("sampling/logprob_gap_max", [])
        self._gap_sums = self._gap_sums + sums if before else sums
        total, count = self._gap_sums.tolist()
        logged["sampling/logprob_gap_mean"] = [total / max(count, 1.0)]
        logged["sampling/logprob_gap_max"] = [max([*before, largest])]
