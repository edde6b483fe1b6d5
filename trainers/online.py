"""The trainer that plays while it learns: TRL's `GRPOTrainer` on episodes.

Written for TRL 1.16; each private hook that is used has a contract test. The hooks stand in the
order in which TRL calls them. Each algorithm is a subclass with an `advantages_of` of its own.
"""

from __future__ import annotations

import copy
import logging
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from functools import partial
from math import nan
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any

import torch
from accelerate.utils import gather_object
from transformers.integrations import is_deepspeed_zero3_enabled
from trl import GRPOConfig, GRPOTrainer
from trl.trainer import grpo_trainer

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.backends.shared import SharedBackend
from trainers.credit.advantages import episode_rewards, expert_gains, scale_by_environment
from trainers.credit.reward_functions import RewardFunctions, reward_list
from trainers.credit.rewards import (
    RewardFunc,
    episode_columns,
    has_reward,
    metrics_by_environment,
    reward_columns,
    rewards_by_turn,
)
from trainers.evaluation.validation import Validation, validation_ids
from trainers.models.bases import AdapterResets, check_resets
from trainers.models.dropout import disable_dropout
from trainers.models.loading import checked_model, use_template
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.backends import BackendSpec
from trainers.options.checks import (
    BY_MEAN,
    PER_ENVIRONMENT,
    check_given,
    check_logprobs,
    refuse_split_weights,
)
from trainers.options.configs import AgentOnlineConfig
from trainers.options.errors import UsageError
from trainers.plans import Announcement, algorithm_title, online_plan
from trainers.policies.demonstrations import Demonstrations
from trainers.policies.model import ModelPolicy
from trainers.policies.open import NAME_IT, open_environments
from trainers.policies.scripted import ExpertPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.learnable import LearnableTasks
from trainers.rollout.mixtures import Mixture
from trainers.rollout.players import (
    Ahead,
    CarriedOver,
    Lockstep,
    Pacing,
    WithExperts,
    check_ahead,
)
from trainers.runs.checkpoints import checkpoints
from trainers.runs.health import BATCH_ZERO_STD
from trainers.runs.progress import Sizes, show_progress
from trainers.runs.records import TrajectoryFiles, keep_records
from trainers.tokens.generation import Backend, Sampling
from trainers.training_tasks import (
    check_epoch,
    learnable_tasks,
    row_mixture,
    row_task_ids,
    training_rows,
)
from trainers.trl_bridge import EpisodeBatch, task_dataset
from trainers.trl_bridge.batch import Rows, episode_environments, lay_out, rows_of_all
from trainers.trl_bridge.loss import PolicyLoss, PolicyMeasures
from trainers.trl_bridge.metrics import horizons, replace_all, replace_metrics, starts
from trainers.trl_bridge.parts import (
    CarriedRows,
    Reference,
    ScheduleState,
    StateFile,
    UnusedBatch,
)
from trainers.trl_bridge.passes import add_gradient, split_into_passes
from trainers.trl_bridge.run import RunMixin
from trainers.trl_bridge.sampler import DrawnOrder, EpochOrder, learnable_order, mixture_order
from wrappers.failures import Machinery

_TRAINING_STREAM = 0
_MOST_CHECKED = 64
"""Training tasks that are asked for an expert before the first step."""


class OnlineTrainer(RunMixin, GRPOTrainer):  # type: ignore[misc]
    """A `trl.GRPOTrainer` that plays its episodes in text environments.

    An algorithm subclasses it, names its config, and says in `advantages_of` what an episode's
    tokens are credited with.

    It lets an episode have several rows, leaves episodes without a reward out exactly, drops
    needless padding, splits micro-batches of many token windows (`trainers.trl_bridge.passes`),
    passes over those in which no row has an advantage, and corrects the loss for the sampling
    distribution (`trainers.trl_bridge.loss`). How a batch is split into micro-batches, passes and
    processes changes no loss and no metric: means over tokens are over the batch's, in TRL's
    `bnpo`, which is then its `dapo`, and in its entropy bonus too. Metrics of tokens are of those
    that the loss trains: without a KL or another term beside the policy's, a row without an
    advantage has none.

    Args:
        model: a Hugging Face id, a folder, `"tiny"`, `"smollm2"`, or a loaded model.
        env: an environment's name, or several; `EnvArguments`; or ready `Environments`.
        args: the algorithm's config, or what it `takes`: mostly TRL's own `GRPOConfig` too.
        rollout: how episodes are played and recorded.
        evaluation: how success is measured during training.
        backend: samples the turns of training and evaluations, in place of `rollout.backend`: a
            name, a `BackendSpec`, or a backend that is open already.
        reward_funcs: TRL reward functions; by default the episode's return. They are given
            the columns of `trainers.credit.rewards.reward_columns`. An episode that failed, or for
            which they return None or a number that is not finite, trains nothing.
        train_dataset: rows whose `prompt` is a task id; by default the split's tasks.
        eval_dataset: the same for evaluations; by default the evaluation split's tasks.
        processing_class: the tokenizer; by default the model's.
        **kwargs: passed to `trl.GRPOTrainer`, such as `peft_config` and `callbacks`.

    Attributes:
        player: plays the batches.
        trajectories: the episodes of this process's last batch.
        extra_episodes: further ones of it that are in no loss; they count in the metrics.
        experts: the places of an expert's episodes in `trajectories`; see `RolloutBatch`.
        rows: their rows.
        episode_rewards: (N,), the rewards of the policy's episodes in the last batch of all
            processes; NaN for none, and for an expert's.
        all_rewards: (N,), the same with an expert's.
        is_expert: (N,) bool, which are an expert's.
        rewards_per_function: (N, F), the rewards of each function for the last batch of all
            processes; NaN where an episode does not count.

    Raises:
        ValueError: the tasks do not fill a batch, or an argument does not fit the others.
    """

    config: type[Any] = AgentOnlineConfig
    """The class of the training options where none are given."""
    takes: type[Any] = GRPOConfig
    """The class of `args`. An algorithm with options that TRL's config lacks takes its own."""
    replaced = "it plays env itself; trl.GRPOTrainer takes it (docs/howto/plugging_in.md)"
    kl_in_reward = False
    """The KL to the reference is part of the reward, so the loss has no KL term."""
    environment_names: Mapping[str, str] = {"": ""}
    """The names of several environments in metrics, by their task ids' prefix."""
    mixture: Mixture | None = None
    """The training tasks by environment, or None for one, in TRL's order."""
    learnable_tasks: LearnableTasks | None = None
    """Draws training tasks by the policy's success, or None if their order is fixed."""
    task_environments: Environments
    loss_type: str
    player: Lockstep
    trajectories: list[Trajectory]
    extra_episodes: Sequence[Trajectory] = ()
    experts: Mapping[int, Trajectory | None] = MappingProxyType({})
    rows: Rows
    episode_rewards: torch.Tensor
    all_rewards: torch.Tensor
    is_expert: torch.Tensor
    rewards_per_function: torch.Tensor
    _requested_at: int | None = None
    _batch_in_step = (-1, 0)
    """An optimizer step and the number of its last batch."""
    _buffered_inputs: list[dict[str, Any]] | None

    def __init__(
        self,
        model: Any,
        env: str | EnvArguments | Environments | None = None,
        *,
        args: Any = None,
        rollout: RolloutArguments | None = None,
        evaluation: EvaluationArguments | None = None,
        backend: str | BackendSpec | Backend | None = None,
        reward_funcs: RewardFunc | Sequence[RewardFunc] | None = None,
        train_dataset: Any = None,
        eval_dataset: Any = None,
        processing_class: Any = None,
        **kwargs: Any,
    ) -> None:
        args = self.config() if args is None else args
        rollout = RolloutArguments() if rollout is None else rollout
        evaluation = EvaluationArguments() if evaluation is None else evaluation
        check_given(self, args=args, rollout=rollout, evaluation=evaluation, further=kwargs)
        args = _with_our_options(args, self.config)
        rollout = rollout if backend is None else replace(rollout, backend=backend)
        check_logprobs(rollout.backend_spec)
        if env is None:
            raise TypeError(
                f"{type(self).__name__} needs an environment to play, as its second argument; "
                f"{NAME_IT}"
            )
        self.carry_over = args.carry_over
        self.max_staleness = args.max_staleness
        self.max_outage = rollout.failure_rules.max_outage
        self.mask_truncated_episodes = rollout.mask_truncated_episodes
        self._penalty = args.invalid_action_penalty
        self._rewards_turns = reward_funcs is None
        self.task_environments = open_environments(
            env, episodes=args.generation_batch_size * (2 if self.carry_over else 1)
        )
        train_dataset = training_rows(train_dataset, self.task_environments, args)
        if eval_dataset is None and args.eval_strategy != "no":
            eval_dataset = task_dataset(validation_ids(self.task_environments, evaluation))
        with warnings.catch_warnings():  # the version is pinned, and the hook under test
            warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
            super().__init__(
                model=checked_model(model),
                rollout_func=self._roll_out,
                reward_funcs=reward_list(
                    reward_funcs,
                    penalty=self._penalty,
                    columns=getattr(train_dataset, "column_names", None) or (),
                ),
                args=args,
                train_dataset=train_dataset,
                eval_dataset=eval_dataset,
                processing_class=processing_class,
                **kwargs,
            )
        use_template(self.processing_class, args)
        self._set_up_loss()
        self._plan_batches(rollout)
        self._open_rollout(rollout, evaluation, eval_dataset)
        self._keep_records(rollout, evaluation)

    def _set_up_loss(self) -> None:
        """Make the loss and its reference, and let the adapter be reset."""
        if self.args.reset_adapter_every:
            check_resets(self)
            self.add_callback(AdapterResets())
        reference = Reference(self)
        reference.copy_start()
        if self.args.disable_dropout:
            disable_dropout(self.model, self.ref_model)
        if self.loss_type == "bnpo":
            self.loss_type = "dapo"
        if self.args.scale_rewards in (PER_ENVIRONMENT, BY_MEAN):
            self.scale_rewards = "none"  # TRL knows neither; `advantages_of` scales
        self.policy_loss = PolicyLoss(self)
        self.measures = PolicyMeasures(self)
        self.carried_rows = CarriedRows(self)
        self.parts += [self.carried_rows, UnusedBatch(self), reference]

    def _plan_batches(self, rollout: RolloutArguments) -> None:
        """Check how batches are played, and set how their tasks are drawn."""
        args, environments = self.args, self.task_environments
        is_split = self.is_fsdp_enabled or is_deepspeed_zero3_enabled()
        refuse_split_weights(rollout.backend_spec, is_split=is_split)
        if self.max_staleness:
            processes = self.accelerator.num_processes
            check_ahead(rollout, environments.args, processes=processes, carry_over=self.carry_over)
            check_epoch(self.train_dataset, args)
        if len(environments.names) > 1:
            self.environment_names = environments.names
            self.mixture = row_mixture(self.train_dataset, environments, args)
        if args.task_sampling == "learnable":
            self.learnable_tasks = learnable_tasks(self.train_dataset, environments, args)
            self.parts.append(StateFile("task_sampling.json", self.learnable_tasks, args))

    def _open_policy(self, rollout: RolloutArguments) -> ModelPolicy:
        """Open the policy of training and evaluations."""
        args, tokenizer = self.args, self.processing_class
        # What a checkpoint was trained on has worked: no wrong address, where it is away now.
        has_worked = any(checkpoints(Path(args.output_dir)))  # step 0 is saved without an episode
        self.machinery = Machinery(rollout.failure_rules, has_worked)
        policy = ModelPolicy.from_model(
            self.model,
            # A tokenizer's settings are no threads' business but one's.
            copy.deepcopy(tokenizer) if self.max_staleness else tokenizer,
            rollout,
            name=str(args.output_dir),
            seed=args.seed,
            sampling=Sampling.from_args(args),
            autocast=self.accelerator.autocast,
            machinery=self.machinery,
        )
        if self.max_staleness:
            backend: Any = policy.backend
            policy.backend = SharedBackend(backend, lambda: self.state.global_step)
        return policy

    def _open_rollout(
        self, rollout: RolloutArguments, evaluation: EvaluationArguments, eval_dataset: Any
    ) -> None:
        """Make the player of training batches and the evaluations, and open their files."""
        environments = self.task_environments
        self._save_every = rollout.save_trajectories_every
        self._files = TrajectoryFiles.from_args(self.args, rollout)
        self.add_callback(self._files)
        policy = self._open_policy(rollout)
        self.rollout = environments.rollout(
            policy, schedule=environments.schedule(rollout), starts=environments.starts(rollout)
        )
        evaluated = environments.rollout(policy)
        self.rollout.machinery = evaluated.machinery = self.machinery
        self.rollout.on_trajectory = evaluated.on_trajectory = self.heartbeat.count
        self.player = self.make_player()
        self.machinery.on_outage = lambda: self.player.in_trainer(self.save_now)
        validation = self.validation = Validation(
            environments,
            evaluated,
            evaluation,
            self._files,
            eval_dataset=eval_dataset,
            pause=self.player.pause,
        )
        self.heartbeat.sizes = Sizes(
            horizon=self._horizon_at,
            eval_episodes=lambda: len(validation.tasks()) * validation.samples,
            eval_turns=environments.max_turns,
        )

    def make_player(self) -> Lockstep:
        """Return the player of the training batches."""
        args = self.args
        if args.expert_episodes:
            return self._player_with_experts()
        if not self.max_staleness:
            return Lockstep(self.rollout, self.rollout_options)
        pacing = Pacing(
            per_batch=args.steps_per_generation * self.num_iterations,
            per_step=args.gradient_accumulation_steps,
            max_staleness=self.max_staleness,
            state=lambda: self.state,
        )
        if self.carry_over:
            return CarriedOver(
                self.rollout,
                self.rollout_options,
                pacing,
                group_size=self.num_generations,
                playing=self.playing,
                note=self.carried_rows.note,
            )
        sender: Any = self.rollout.policy
        return Ahead(self.rollout, self.rollout_options, pacing, sender.backend)

    def _player_with_experts(self) -> WithExperts:
        """Return the player of groups with an expert's episodes, for which it checks the tasks."""
        args, size = self.args, self.num_generations
        if args.expert_episodes_when == "unsolved" and not self._rewards_turns:
            raise UsageError(
                "expert_episodes_when=unsolved replaces episodes by the environment's success, got "
                "reward_funcs; let a wrapper give the reward (`wrapper`), or pass "
                "expert_episodes_when=always"
            )
        share = args.generation_batch_size // self.accelerator.num_processes
        if share % size:
            raise UsageError(
                f"expert_episodes needs whole groups in each training process, got {share} "
                f"episodes each in groups of num_generations={size}; raise "
                "per_device_train_batch_size or gradient_accumulation_steps, or lower "
                "num_generations"
            )
        return WithExperts(
            self.rollout,
            self.rollout_options,
            self.demonstrations("expert_episodes", "pass `expert_episodes=0`"),
            group_size=size,
            count=args.expert_episodes,
            unsolved=args.expert_episodes_when == "unsolved",
        )

    def demonstrations(self, option: str, remedy: str, *, encoded: bool = True) -> Demonstrations:
        """Check that training tasks have an expert, and return the player of its episodes.

        Args:
            option: needs an expert.
            remedy: does without.
            encoded: the episodes have the policy's tokens, and are within its token budgets.

        Raises:
            UsageError: a task has no expert.
        """
        environments = self.task_environments
        if hasattr(self.train_dataset, "__len__"):
            tasks = row_task_ids(self.train_dataset, option=option)
            some = tasks[:: max(1, len(tasks) // _MOST_CHECKED)]
            environments.check_experts(some, option, remedy)
        policy: Any = self.rollout.policy
        experts = environments.rollout(ExpertPolicy())  # within all of the environment's turns
        experts.machinery = self.machinery
        return Demonstrations(experts, policy if encoded else None)

    def rollout_options(self, ahead: int = 0) -> dict[str, Any]:
        """Return the batch's step, temperature and stream of random numbers.

        Args:
            ahead: optimizer steps after which the batch is trained on.
        """
        step = self.state.global_step + ahead
        last_step, batch = self._batch_in_step
        batch = batch + 1 if last_step == step else 0
        self._batch_in_step = (step, batch)
        return {
            "global_step": self.state.global_step,
            "temperature": self.args.temperature,
            "stream": (_TRAINING_STREAM, step, batch, self.args.process_index),
        }

    def _keep_records(self, rollout: RolloutArguments, evaluation: EvaluationArguments) -> None:
        """Add the callbacks that write the run's files and show its progress."""
        rewards = RewardFunctions(self.reward_func_names)
        self.run_options = [self.task_environments.args, rollout, evaluation, rewards]
        names = self.task_environments.names
        schedules = {"horizon": self.rollout.schedule, "start": self.rollout.starts}
        self._schedule_states = {
            name: ScheduleState(schedule, names=names) for name, schedule in schedules.items()
        }
        for name, state in self._schedule_states.items():
            self.parts.append(StateFile(f"{name}_schedule.json", state, self.args))
        keep_records(self, configs=self.run_options)
        self.add_callback(Announcement(algorithm_title(self), lambda: online_plan(self)))
        show_progress(self)

    def further_plan(self) -> dict[str, str]:
        """Return an algorithm's own lines of the run's plan, behind the policy's."""
        return {}

    def _horizon_at(self, step: int) -> float:
        """Return the turn limit of a step's episodes, the mean over environments."""
        limits = horizons(self.rollout.schedule, step, self.environment_names)
        return limits.get("horizon", float(self.task_environments.max_turns))

    @contextmanager
    def in_training(self) -> Iterator[None]:
        """Surround a whole training: however it ends, the episodes are written, and none played."""
        self._batch_in_step = (-1, 0)  # one after another has the random numbers of the first
        try:
            yield
        finally:
            self.player.stop()
            self._files.flush()

    # A batch: tasks, play, rewards --------------------------------------------------------------

    def _get_train_sampler(self, dataset: Any = None) -> EpochOrder | DrawnOrder:
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
            return learnable_order(sampler, learnable, **options)
        if mixture is not None:
            return mixture_order(sampler, mixture, **options)
        generator = sampler.generator if sampler.shuffle else None
        return EpochOrder(
            sampler, generator=generator, seed=self.args.seed, state=lambda: self.state
        )

    def get_batch_samples(self, epoch_iterator: Iterator[Any], *args: Any, **kwargs: Any) -> Any:
        """Return the micro-batches of a step, as `transformers.Trainer` does."""
        return super().get_batch_samples(self.player.read(epoch_iterator), *args, **kwargs)

    def _prepare_inputs(self, generation_batch: Any) -> dict[str, Any]:
        before = self._buffered_inputs
        inputs: dict[str, Any] = super()._prepare_inputs(generation_batch)
        batches = self._buffered_inputs
        if batches is not None and batches is not before:
            self._buffered_inputs = lay_out(self, batches)
            inputs = self._buffered_inputs[self._step % self.args.steps_per_generation]
        if self.model.training:
            self.player.pass_on()
        return inputs

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        rows = self._play(inputs)
        batch: dict[str, Any] = super()._generate_and_score_completions(rows)
        conversations = [trajectory.messages() for trajectory in self.trajectories]
        replace_all(self._logs["completion"], gather_object(conversations))
        del batch["advantages"]  # TRL's, of episodes; all that is left is of rows
        sampled = batch["completion_mask"] * batch["tool_mask"]
        episodes = EpisodeBatch.from_batch(self, batch)
        self._log_episodes(episodes.group_size)
        self.policy_loss.weigh_observations(batch, episodes)
        advantages = self.advantages_of(batch, episodes)
        # Each episode's, the mean over its tokens, in place of TRL's own.
        means = advantages if advantages.ndim == 1 else episodes.mean_over_tokens(advantages)
        own_row = episodes.episode_of_row.clamp(min=0)
        if advantages.ndim == 1:
            advantages = advantages[own_row][:, None].expand_as(episodes.action_mask)
        self.policy_loss.weigh(batch, episodes, advantages)
        if self.model.training and self.args.expert_episodes:
            of_experts = episodes.local(self.expert_advantages(episodes))
            token_advantages = of_experts[own_row][:, None] * sampled
            self.policy_loss.weigh_experts(batch, episodes, token_advantages)
            means, advantages = means + of_experts, advantages + token_advantages
        replace_all(self._logs["advantages"], self.accelerator.gather(means).tolist())
        self.rows.note_advantages(advantages.tolist())
        replaced = [one for one in self.experts.values() if one is not None]
        self.keep_episodes([*self.trajectories, *self.extra_episodes, *replaced])
        return batch

    def _play(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Play a batch and return its rows of the data."""
        is_training, start = self.model.training, time.perf_counter()
        rows = self.carried_rows.take(inputs) if is_training else inputs
        # The rows of `predict` are neither groups nor read ahead.
        player = self.player if is_training else Lockstep(self.rollout, self.rollout_options)
        pause = nullcontext() if is_training else self.player.pause()
        name = f"step {self.state.global_step + 1}" if is_training else "prediction"
        counting = self.heartbeat.playing(name, len(rows), is_evaluation=not is_training)
        with self.playing(), counting, pause:
            batch = player.take(rows)
        self.trajectories, self.extra_episodes = batch.trajectories, batch.extra
        self.experts = batch.experts
        self._requested_at = batch.requested_at
        self.rows = rows_of_all(self, self.trajectories)
        metrics = {"rollout_time": time.perf_counter() - start, **batch.metrics}
        step, names = self.horizon_step, self.environment_names
        metrics |= horizons(self.rollout.schedule, step, names)
        if self.rollout.starts is not None:
            own = [t for place, t in enumerate(self.trajectories) if place not in self.experts]
            own += filter(None, self.experts.values())
            metrics |= starts(self.rollout.starts, step, names, own)
        for name, value in metrics.items():
            self._log_metric(name, value)
        for name, value in batch.largest.items():
            largest = self.logged[name]
            largest[:] = [max([value, *largest])]  # TRL logs the mean of a list
        # Copies, since TRL writes into rows, and these may be played again.
        return [dict(row) for row in batch.rows]

    def _roll_out(self, _prompts: list[str], _trainer: Any) -> dict[str, Any]:
        return {**self.rows.columns, **reward_columns(self.trajectories)}

    def _calculate_rewards(
        self, inputs: Any, prompts: Any, _conversations: Any, _completion_ids: Any
    ) -> torch.Tensor:
        ids = self.rows.completions()
        # TRL's form where prompts are texts; the conversations are in `trajectories`.
        texts = self.processing_class.batch_decode(ids, skip_special_tokens=True)
        with _no_missing_reward_warning():
            # (N, F), of all processes
            per_function = super()._calculate_rewards(inputs, prompts, texts, ids)
        counted = [
            [has_reward(t.status, t.episode_return), place in self.experts]
            for place, t in enumerate(self.trajectories)
        ]
        gathered = self.accelerator.gather(torch.tensor(counted, device=per_function.device))
        self.all_rewards = episode_rewards(
            per_function,
            self.reward_weights.to(per_function.device),
            gathered[:, 0],
            num_penalties=int(self._penalty != 0),
        )
        # In no mean, no metric and no term of TRL's loss.
        self.is_expert = gathered[:, 1]
        self.episode_rewards = self.all_rewards.masked_fill(self.is_expert, nan)
        uncounted = self.episode_rewards.isnan()[:, None]
        self.rewards_per_function = per_function.masked_fill(uncounted, torch.nan)
        return self.rewards_per_function

    @property
    def logged(self) -> dict[str, list[float]]:
        """The metrics of the next log entry, lists whose means TRL logs."""
        metrics: dict[str, list[float]] = self._metrics["train" if self.model.training else "eval"]
        return metrics

    @property
    def horizon_step(self) -> int:
        """The optimizer step whose horizon the last batch has."""
        return self.state.global_step if self._requested_at is None else self._requested_at

    # Credit -------------------------------------------------------------------------------------

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return the advantages, (E,) of this process's episodes or (R, T) of its tokens.

        Args:
            batch: TRL's padded tensors of R rows: `prompt_ids`, `completion_ids`, `completion_mask`
                and what else it has; entries of as many rows that are added here reach the loss.
            episodes: rewards and trajectories.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no advantages_of")

    def scale_advantages(
        self, advantages: torch.Tensor, rewards: torch.Tensor, episodes: EpisodeBatch
    ) -> torch.Tensor:
        """Return (N,) advantages as `scale_rewards` scales them, by (N,) rewards."""
        if self.normalizes_by_environment:
            return scale_by_environment(advantages, rewards, episodes.environment)
        return advantages

    def expert_advantages(self, episodes: EpisodeBatch) -> torch.Tensor:
        """Return (N,) advantages of an expert's episodes, 0 for the policy's own.

        An expert's return less the mean of the policy's own in its group, 0 where that is less. It
        is scaled as theirs are, but by the returns of all, the expert's among them: where the
        policy never wins, its own have no deviation.
        """
        gains = expert_gains(self.all_rewards, self.is_expert, episodes.group_size)
        return self.scale_advantages(gains, self.all_rewards, episodes)

    @property
    def normalizes_by_environment(self) -> bool:
        """Advantages are scaled by the rewards of their environment alone."""
        return bool(self.args.scale_rewards == PER_ENVIRONMENT)

    def whiten(
        self, values: torch.Tensor, rewards: torch.Tensor, episodes: EpisodeBatch
    ) -> torch.Tensor:
        """Return (R, T) whitened values, and log the share of a batch with equal rewards.

        Args:
            values: (R, T).
            rewards: (E,) of the episodes; see `EpisodeBatch.whiten`.
            episodes: the batch's.
        """
        by_environment = self.normalizes_by_environment
        whitened, share = episodes.whiten(values, rewards, by_environment=by_environment)
        self.logged[BATCH_ZERO_STD].append(share)
        return whitened

    def rewards_of(self, trajectories: Sequence[Trajectory]) -> list[float]:
        """Return the environment's rewards of episodes, less penalties. NaN stands for none."""
        weights = self.reward_weights.tolist()
        turn_rewards = rewards_by_turn(
            trajectories,
            [0.0] * len(trajectories),
            environment_weight=weights[0],
            invalid_penalty=weights[-1] * self._penalty,
        )
        return [
            sum(turns) if has_reward(one.status, one.episode_return) else nan
            for one, turns in zip(trajectories, turn_rewards, strict=True)
        ]

    def turn_rewards(self, episodes: EpisodeBatch) -> list[list[float]]:
        """Return the rewards of each turn of this process's episodes, by `rewards_by_turn`."""
        weights = self.reward_weights.tolist()
        return rewards_by_turn(
            episodes.trajectories,
            episodes.local(episodes.rewards).nan_to_num(nan=0.0).tolist(),
            environment_weight=weights[0] if self._rewards_turns else 0.0,
            invalid_penalty=weights[-1] * self._penalty,
        )

    # The loss -----------------------------------------------------------------------------------

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> torch.Tensor:
        """Return a micro-batch's scalar loss, and add the gradients of its passes but the last."""
        max_rows = self.args.per_device_train_batch_size
        is_whole = len(inputs["prompt_ids"]) <= max_rows
        if is_whole or self.policy_loss.has_terms_of_micro_batches or not self.model.training:
            return self.loss_of_pass(model, inputs)
        *others, last = split_into_passes(inputs, max_rows, self.loss_type, self.accelerator)
        total: Any = 0.0
        for part in others:
            total += add_gradient(partial(self.loss_of_pass, model, part), model, self.accelerator)
        return self.loss_of_pass(model, last) + total

    def loss_of_pass(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Return the scalar loss of a pass. A subclass may add a term."""
        return self.policy_loss(model, inputs)

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        compute = super()._get_per_token_logps_and_entropies
        return self.policy_loss.logprobs(compute, *args, **kwargs)

    # Records ------------------------------------------------------------------------------------

    def _log_episodes(self, group_size: int) -> None:
        """Log metrics of the policy's episodes of all processes in place of TRL's of rows."""
        trajectories, rewards, groups = self._own_episodes(group_size)
        labels = list(self.environment_names.values())
        numbers = episode_environments(trajectories, self.environment_names)
        rewards = self._gather(rewards)
        metrics = metrics_by_environment(
            self._gather([labels[number] for number in numbers]),
            rewards=rewards,
            columns={name: self._gather(c) for name, c in episode_columns(trajectories).items()},
            groups=self._gather(groups),
            environments=labels,
        )
        counted = [reward for reward in rewards if reward == reward]
        if self.experts and counted:
            metrics.setdefault("reward", fmean(counted))
        replace_metrics(self.logged, metrics)
        if self.model.training:
            self.on_episodes(metrics)

    def _own_episodes(self, group_size: int) -> tuple[list[Trajectory], list[float], list[int]]:
        """Return the policy's episodes of this process, in a loss or not: rewards and groups."""
        first = self.accelerator.process_index * len(self.trajectories)
        trajectories, rewards, groups = [], [], []
        for place, trajectory in enumerate(self.trajectories):
            reward = float(self.episode_rewards[first + place])
            if place in self.experts:
                replaced = self.experts[place]
                if replaced is None:
                    continue
                trajectory, (reward,) = replaced, self.rewards_of([replaced])
            trajectories.append(trajectory)
            rewards.append(reward)
            groups.append((first + place) // group_size)
        total = len(self.episode_rewards)
        places = range(total, total + len(self.extra_episodes))
        return (
            [*trajectories, *self.extra_episodes],
            [*rewards, *self.rewards_of(self.extra_episodes)],
            [*groups, *(place // group_size for place in places)],
        )

    def on_episodes(self, metrics: dict[str, float]) -> None:
        """Record the success of all processes' episodes, for the horizon and the next tasks.

        Args:
            metrics: `trainers.credit.rewards.metrics_by_environment`.
        """
        for state in self._schedule_states.values():
            state.record(self.state.global_step, metrics, horizon_step=self.horizon_step)
        if self.learnable_tasks is not None:
            played = self._own_episodes(1)[0]
            own = [(t.task_id, t.success) for t in played if t.status != "failed"]
            self.learnable_tasks.record(self._gather(own))

    def _gather(self, values: list[Any]) -> list[Any]:
        """Join lists of all processes."""
        gathered: list[Any] = gather_object(values)  # of one process, itself
        return gathered

    def keep_episodes(self, trajectories: list[Trajectory]) -> None:
        """Write the episodes of this process to the file of the step that they train.

        Metrics, curve and terminal have that step's number for them, so the record has it too.
        """
        step = self.state.global_step
        if self._save_every and step % self._save_every == 0:
            episodes = [replace(one, global_step=step + 1) for one in trajectories]
            self._files.write("train", step + 1, episodes)


def _with_our_options(args: Any, config: type[Any]) -> Any:
    """Give TRL's own config our options at their defaults, and return it."""
    for field in (*fields(AgentOnlineConfig), *fields(config)):
        if not hasattr(args, field.name):
            setattr(args, field.name, field.default)
    return args


@contextmanager
def _no_missing_reward_warning() -> Iterator[None]:
    """Silence TRL's warning. `trainers.runs.health` warns once of missing rewards, with a cause."""
    logger = logging.getLogger(grpo_trainer.__name__)

    def is_other(record: logging.LogRecord) -> bool:
        return "All reward functions returned None" not in record.getMessage()

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)
