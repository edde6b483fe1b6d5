"""TRL's `GRPOTrainer` on trajectories: the base of every trainer that plays.

Written for TRL 1.16; each private hook that is used has a contract test.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import nan
from typing import Any

import torch
from accelerate.utils import gather_object
from trl import GRPOTrainer

from agentgym_envs.tasks import scenario_of
from agentgym_envs.trajectory import Trajectory
from trainers.credit.advantages import episode_rewards
from trainers.credit.rewards import has_reward, reward_columns
from trainers.models.dropout import disable_dropout
from trainers.rollout.learnable import LearnableTasks
from trainers.rollout.mixtures import Mixture
from trainers.rollout.rollout import Rollout
from trainers.trl_bridge.batches import (
    has_signal,
    is_mean_over_rows,
    regroup,
    row_weights,
    token_advantages,
    trim_padding,
)
from trainers.trl_bridge.cpu_passes import CPUPassesMixin
from trainers.trl_bridge.episode_batch import EpisodeBatch, leave_out_unrewarded
from trainers.trl_bridge.episode_metrics import EpisodeMetricsMixin
from trainers.trl_bridge.epoch_order import EpochOrder, LearnableOrder, MixtureOrder
from trainers.trl_bridge.importance import ImportanceMixin
from trainers.trl_bridge.measures import MeasuresMixin
from trainers.trl_bridge.passes import Weighted, add_gradient, split_into_passes
from trainers.trl_bridge.reference import ReferenceMixin
from trainers.trl_bridge.rows import Rows, rows_of
from trainers.trl_bridge.saving import SavingMixin
from trainers.trl_bridge.setup import SetupMixin
from trainers.trl_bridge.silenced import no_experimental_warning, no_missing_reward_warning

_COMPLETIONS = 3
"""Where TRL's `_generate` returns the decoded completions."""


class EpisodeTrainer(  # type: ignore[misc]
    SetupMixin,
    CPUPassesMixin,
    ReferenceMixin,
    SavingMixin,
    EpisodeMetricsMixin,
    MeasuresMixin,
    ImportanceMixin,
    GRPOTrainer,
):
    """`GRPOTrainer` whose rows come from trajectories.

    It lets an episode have several rows, leaves episodes without a reward out exactly, drops
    needless padding, splits micro-batches of many token windows (`trainers.trl_bridge.passes`),
    passes over those in which no row has an advantage, and corrects the loss for what has sampled
    the tokens (`trainers.trl_bridge.importance`). A subclass sets `rollout`, and may replace the
    group-relative advantages in `advantages_of`.

    How a batch is split into micro-batches, passes and processes changes no loss and no metric:
    means over tokens are over the batch's, in TRL's `bnpo`, which is then its `dapo`, and in its
    entropy bonus too. Metrics of tokens are of those that the loss trains: without a KL or another
    term beside the policy's, a row without an advantage has none.

    Args:
        **kwargs: `trl.GRPOTrainer`'s, without `rollout_func`.

    Attributes:
        trajectories: the episodes of this process's last batch.
        rows: their rows.
        rewards_per_function: (N, F), what each reward function pays the last batch of all
            processes; NaN where an episode does not count.
    """

    mask_truncated_episodes = False
    beta: float
    entropy_coef: float
    loss_type: str
    kl_in_reward = False
    """The KL to the reference is part of the reward, so the loss has no KL term."""
    num_penalties = 0
    """The last reward functions that only take something off what the others pay."""
    _buffered_inputs: list[dict[str, Any]] | None
    rollout: Rollout
    """Plays the training episodes."""
    environment_names: Mapping[str, str] = {"": ""}
    """What metrics call several environments, by the names in front of task ids."""
    mixture: Mixture | None = None
    """The training tasks by environment; None where there is one, whose order is TRL's."""
    learnable_tasks: LearnableTasks | None = None
    """Draws the training tasks by the policy's success; None where they come in an order."""
    take_batch: Callable[[list[str]], list[Trajectory]] | None = None
    """Plays a batch, in groups of `num_generations` tasks; None lets `rollout` play it."""
    surplus: Sequence[Trajectory] = ()
    """Episodes of the last batch that were played and are in no loss; they count in the metrics."""
    asked_at: int | None = None
    """The optimizer step at which the last batch was asked for, where it was played ahead."""
    _policy_loss_step = 0
    """The optimizer step of the last entry of `policy_loss`."""

    def __init__(self, **kwargs: Any) -> None:
        with no_experimental_warning():
            super().__init__(rollout_func=self._roll_out, **kwargs)
        self.refer_to_start()
        if self.args.disable_dropout:
            disable_dropout(self.model, self.ref_model)
        if self.loss_type == "bnpo":
            self.loss_type = "dapo"

    def rollout_options(self, ahead: int = 0) -> dict[str, Any]:
        """Return what `rollout.run` is called with besides the tasks.

        Args:
            ahead: optimizer steps after which the batch is trained on.
        """
        return {"global_step": self.state.global_step, "temperature": self.args.temperature}

    @property
    def horizon_step(self) -> int:
        """The optimizer step whose horizon the last batch has."""
        return self.state.global_step if self.asked_at is None else self.asked_at

    def keep_episodes(self, trajectories: list[Trajectory]) -> None:
        """Called with this process's episodes, their advantages included; does nothing here."""

    def playing_batch(self, episodes: int) -> AbstractContextManager[None]:
        """Return a context for the play of a training batch, which does nothing here."""
        return nullcontext()

    def on_episodes(self, metrics: dict[str, float]) -> None:
        """Called with the metrics of each training batch, of all processes; does nothing here.

        Args:
            metrics: `trainers.credit.by_environment.metrics_by_environment`.
        """

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return the advantages, (E,) of this process's episodes or (R, T) of its tokens.

        Args:
            batch: TRL's padded tensors: `prompt_ids`, `completion_ids`, `completion_mask` and what
                else it has; entries of as many rows that are added here reach the loss.
            episodes: rewards and trajectories.
        """
        return batch["advantages"]

    def rewards_of(self, trajectories: Sequence[Trajectory]) -> list[float]:
        """Return what episodes are paid by their environment; NaN for those that do not count."""
        return [
            t.episode_return if has_reward(t.status, t.episode_return) else nan
            for t in trajectories
        ]

    def _generate(self, prompts: list[str]) -> tuple[Any, ...]:
        """Generate as TRL does; the completions it keeps are the episodes' conversations."""
        outputs = list(super()._generate(prompts))
        logged = self._metrics["train" if self.model.training else "eval"]
        for name in [name for name in logged if name.startswith("completions/")]:
            del logged[name]  # of rows, of which an episode has several; ours are `episodes/`
        outputs[_COMPLETIONS] = [trajectory.messages() for trajectory in self.trajectories]
        return tuple(outputs)

    def _calculate_rewards(
        self, inputs: Any, prompts: Any, _conversations: Any, _completion_ids: Any
    ) -> torch.Tensor:
        ids = self.rows.completions()
        # TRL's form where prompts are texts; the conversations are in `trajectories`.
        texts = self.processing_class.batch_decode(ids, skip_special_tokens=True)
        with no_missing_reward_warning():
            # (N, F), of all processes
            per_function = super()._calculate_rewards(inputs, prompts, texts, ids)
        counted = [has_reward(t.status, t.episode_return) for t in self.trajectories]
        self._rewards = episode_rewards(
            per_function,
            self.reward_weights.to(per_function.device),
            self.accelerator.gather(torch.tensor(counted, device=per_function.device)),
            num_penalties=self.num_penalties,
        )
        uncounted = self._rewards.isnan()[:, None]
        self.rewards_per_function = per_function.masked_fill(uncounted, torch.nan)
        return self.rewards_per_function

    def _roll_out(self, prompts: list[str], _trainer: Any) -> dict[str, Any]:
        start = time.perf_counter()
        with self.playing(), self.playing_batch(len(prompts)):
            if self.take_batch is None:
                self.trajectories = self.rollout.run(list(prompts), **self.rollout_options())
            else:
                self.trajectories = self.take_batch(list(prompts))
        self._log_metric("rollout_time", time.perf_counter() - start)
        for name, horizon in self._horizons().items():
            self._log_metric(name, horizon)
        self.rows = self._rows_of_all(self.trajectories)
        return {**self.rows.columns, **reward_columns(self.trajectories)}

    def _environments(self, trajectories: list[Trajectory]) -> list[int]:
        """Return the number of the environment of each episode."""
        if len(self.environment_names) == 1:
            return [0] * len(trajectories)
        places = {name: place for place, name in enumerate(self.environment_names)}
        return [places[scenario_of(trajectory.task_id)] for trajectory in trajectories]

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

    def _get_train_sampler(self, dataset: Any = None) -> EpochOrder | MixtureOrder | LearnableOrder:
        sampler = super()._get_train_sampler(dataset)
        learnable, mixture = self.learnable_tasks, self.mixture
        if learnable is not None or mixture is not None:
            sampler.shuffle = False  # what draws is ours; TRL repeats each draw for its group
        whole_batches = sampler.num_samples // sampler.batch_size
        options: dict[str, Any] = {
            "num_draws": whole_batches * sampler.batch_size,
            "state": lambda: self.state,
        }
        if learnable is not None:
            return LearnableOrder(sampler, learnable, **options)
        if mixture is not None:
            return MixtureOrder(sampler, mixture, **options)
        generator = sampler.generator if sampler.shuffle else None
        return EpochOrder(
            sampler, generator=generator, seed=self.args.seed, state=lambda: self.state
        )

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        batch = super()._generate_and_score_completions(inputs)
        episodes = self._batch_of_episodes(batch)
        episode_of_row, action_mask = episodes.episode_of_row, episodes.action_mask
        self._log_episodes(episodes.group_size)
        if self.observation_loss_weight and self.model.training:
            self.weigh_observations(batch, episodes)
        advantages = self.advantages_of(batch, episodes)
        is_per_token = advantages.ndim > 1
        self._log_advantages(advantages, episodes)
        if not is_per_token:
            advantages = advantages[episode_of_row.clamp(min=0)]
        self.rows.note_advantages(
            (advantages if is_per_token else advantages[:, None].expand_as(action_mask)).tolist()
        )
        self.keep_episodes([*self.trajectories, *self.surplus])
        num_trained = episodes.trained.sum().float()
        weights = row_weights(
            self.loss_type,
            tokens=action_mask.sum(dim=1),
            episode_of_row=episode_of_row,
            num_episodes=self.accelerator.gather(num_trained.unsqueeze(0)).mean().item(),
        )
        if is_per_token:
            batch["advantages"] = advantages * action_mask * weights[:, None]
        else:
            batch["advantages"] = advantages * weights
        batch["row_weights"] = weights
        return batch

    def _batch_of_episodes(self, batch: dict[str, Any]) -> EpisodeBatch:
        """Take episodes without a reward out of a batch's mask; return what it is made of."""
        first = self.accelerator.process_index * len(self.trajectories)
        device = batch["advantages"].device
        episode_of_row = torch.tensor(self.rows.episode_of_row, device=device)
        if self._rewards.isnan().any():
            of_row = self._rewards[first + episode_of_row.clamp(min=0)]
            leave_out_unrewarded(batch, of_row, reduce_sum=self._reduce_sum)
        return EpisodeBatch(
            trajectories=self.trajectories,
            rewards=self._rewards,
            group_size=self.num_generations if self.model.training else self.num_generations_eval,
            first=first,
            episode_of_row=episode_of_row,
            action_mask=batch["completion_mask"] * batch["tool_mask"],
            reduce_sum=self._reduce_sum,
            gather=gather_object if self.accelerator.num_processes > 1 else list,
            environment=self.accelerator.gather(
                torch.tensor(self._environments(self.trajectories), device=device)
            ),
            num_environments=len(self.environment_names),
        )

    def _reduce_sum(self, tensor: torch.Tensor) -> torch.Tensor:
        total: torch.Tensor = self.accelerator.reduce(tensor, reduction="sum")
        return total

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
                for batch in regroup(batches[first : first + together], self._hidden_size)
            ]
        self._buffered_inputs = [trim_padding(batch) for batch in batches]
        return self._buffered_inputs[self._step % steps]

    @property
    def _hidden_size(self) -> int:
        model = self.accelerator.unwrap_model(self.model)
        size: int = model.config.get_text_config(decoder=True).hidden_size
        return size

    @property
    def _has_terms_of_micro_batches(self) -> bool:
        """Some term is over the tokens of a micro-batch, so other ones would change the loss."""
        return self.top_entropy_quantile < 1.0 or self.aux_loss_enabled

    @property
    def _trains_signals_alone(self) -> bool:
        """Rows without an advantage have no gradient."""
        has_kl = self.beta != 0.0 and not self.kl_in_reward
        return self.model.training and not (
            has_kl
            or self._entropy_bonus_enabled
            or self._has_terms_of_micro_batches
            or self.observation_loss_weight != 0.0
        )

    def is_without_gradient(self, inputs: dict[str, Any]) -> bool:
        """Return whether a pass over these rows can be left out: its gradient is 0."""
        alone = self.accelerator.num_processes == 1  # several must do the same passes together
        return alone and self._trains_signals_alone and not bool(has_signal(inputs).any())

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> torch.Tensor:
        """Return the loss of a micro-batch; of its passes but the last, add the gradient first."""
        max_rows = self.args.per_device_train_batch_size
        is_whole = len(inputs["prompt_ids"]) <= max_rows or self._has_terms_of_micro_batches
        if is_whole or not self.model.training:
            return self._compute_loss(model, inputs)
        *others, last = split_into_passes(inputs, max_rows, self.loss_type, self.accelerator)
        total: Any = 0.0
        for part in others:
            with self.accelerator.no_sync(model):
                loss = self._compute_loss(model, part)
                add_gradient(loss, self.accelerator)
            total += loss.detach()
        return self._compute_loss(model, last) + total

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        if self.is_without_gradient(inputs):
            # The two passes through the model would cost half of a step, for a gradient of 0.
            return sum(p.sum() * 0.0 for p in model.parameters() if p.requires_grad)  # type: ignore[return-value]
        if self._trains_signals_alone:
            signal = has_signal(inputs)[:, None]
            inputs = {**inputs, "tool_mask": inputs["tool_mask"] * signal}
        beta = self.beta
        of_rows = inputs["row_weights"][:, None]
        try:
            self.beta = 0.0 if self.kl_in_reward else Weighted.of(beta, of_rows)
            self.entropy_coef = Weighted.of(self.entropy_coef, self._share_of_tokens(inputs))
            loss: torch.Tensor = super()._compute_loss(model, token_advantages(inputs))
        finally:
            self.beta, self.entropy_coef = beta, float(self.entropy_coef)
        if self._entropy_bonus_enabled and self.model.training:
            self._add_up_policy_loss()
        return loss

    def _share_of_tokens(self, inputs: dict[str, Any]) -> torch.Tensor:
        """Return the factor from a mean over a pass's tokens to its part of the batch's mean."""
        own = (inputs["completion_mask"] * inputs["tool_mask"]).sum()
        parts = self.accelerator.num_processes
        parts *= self.args.steps_per_generation if self.model.training else 1
        return own * parts / inputs["num_items_in_batch"].clamp(min=1)

    def _add_up_policy_loss(self) -> None:
        """Add TRL's log of a pass to its optimizer step's, as the losses add up."""
        logged, step = self._metrics["train"]["policy_loss"], self.state.global_step
        of_pass = logged.pop()
        if is_mean_over_rows(self.loss_type):
            of_pass /= self.current_gradient_accumulation_steps
        if logged and self._policy_loss_step == step:
            of_pass += logged.pop()
        logged.append(of_pass)
        self._policy_loss_step = step
