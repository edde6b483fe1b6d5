"""The trainer that plays while it learns, and its command; each algorithm is a subclass."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from accelerate.utils import gather_object
from transformers.integrations import is_deepspeed_zero3_enabled
from trl import GRPOConfig

from agentgym_envs.trajectory import Trajectory
from trainers.backends.shared import SharedBackend
from trainers.command import parse_training, refusing, run_training
from trainers.credit.reward_functions import RewardFunctions, reward_list
from trainers.credit.rewards import RewardFunc, rewards_by_turn
from trainers.evaluation.validation import (
    RolloutEvaluationMixin,
    validation_ids,
    validation_of,
)
from trainers.models.loading import (
    adapter_config,
    check_loaded,
    check_named,
    describe_policy,
    load_policy,
    resolve_model,
    use_template,
)
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.backends import BackendSpec
from trainers.options.checks import check_given, check_logprobs, refuse_split_weights
from trainers.options.configs import AgentOnlineConfig, ModelArguments
from trainers.options.defaults import BY_MEAN, PER_ENVIRONMENT
from trainers.options.models import base_of_adapter
from trainers.policies.model import ModelPolicy
from trainers.policies.open import NAME_IT, open_environments
from trainers.rollout.environments import Environments
from trainers.runs.announcement import (
    Announcement,
    Plan,
    evaluation_plan,
    history_plan,
    rate_plan,
    title_of,
)
from trainers.runs.checkpoints import checkpoints
from trainers.runs.health import BATCH_ZERO_STD
from trainers.runs.progress import show_progress
from trainers.runs.records import keep_records
from trainers.runs.sampling_state import SamplingStateCallback
from trainers.runs.schedule_state import ScheduleStateCallback
from trainers.runs.signs import Sizes
from trainers.runs.trajectories import TrajectoryFiles
from trainers.tokens.generation import Backend, Sampling
from trainers.training_tasks import (
    check_epoch,
    learnable_tasks,
    mixture_of_rows,
    training_rows,
)
from trainers.trl_bridge import EpisodeBatch, EpisodeTrainer, task_dataset
from trainers.trl_bridge.ahead import AheadMixin, check_ahead
from trainers.trl_bridge.carry_over import CarryOverMixin
from trainers.trl_bridge.reuse import BatchCheckpointMixin
from wrappers.failures import Machinery

_TRAINING_STREAM = 0


class OnlineTrainer(
    CarryOverMixin, AheadMixin, BatchCheckpointMixin, RolloutEvaluationMixin, EpisodeTrainer
):
    """A `trl.GRPOTrainer` that plays its episodes in text environments.

    An algorithm subclasses it, names its config, and says in `advantages_of` what an episode's
    tokens are credited with.

    Args:
        model: a Hugging Face id, a folder, `"tiny"`, `"smollm2"`, or a loaded model.
        env: an environment's name, or several; `EnvArguments`; or ready `Environments`.
        args: the algorithm's config, or what it `takes`: mostly TRL's own `GRPOConfig` too.
        rollout: how episodes are played and what is kept of them.
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

    Raises:
        ValueError: the tasks do not fill a batch, or an argument does not fit the others.
    """

    config: type[Any] = AgentOnlineConfig
    """Of the training options, where none are given."""
    takes: type[Any] = GRPOConfig
    """The class of `args`; an algorithm with options that TRL's config lacks takes its own."""
    replaced = "it plays env itself; trl.GRPOTrainer takes it (docs/extending/plugging_in.md)"
    task_environments: Environments

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
        rollout = rollout if backend is None else replace(rollout, backend=backend)
        check_logprobs(rollout.backend_spec)
        if env is None:
            raise TypeError(
                f"{type(self).__name__} needs an environment to play, as its second argument; "
                f"{NAME_IT}"
            )
        self.carry_over = getattr(args, "carry_over", False)
        self.task_environments = open_environments(
            env, episodes=args.generation_batch_size * (2 if self.carry_over else 1)
        )
        train_dataset = training_rows(train_dataset, self.task_environments, args)
        if eval_dataset is None and args.eval_strategy != "no":
            eval_dataset = task_dataset(validation_ids(self.task_environments, evaluation))
        self.mask_truncated_episodes = rollout.mask_truncated_episodes
        penalty = getattr(args, "invalid_action_penalty", 0.0)
        self.num_penalties = int(penalty != 0)
        self._pays_by_turn = reward_funcs is None
        super().__init__(
            model=_checked(model),
            reward_funcs=reward_list(
                reward_funcs,
                penalty=penalty,
                columns=getattr(train_dataset, "column_names", None) or (),
            ),
            args=args,
            train_dataset=train_dataset,
            eval_dataset=eval_dataset,
            processing_class=processing_class,
            **kwargs,
        )
        use_template(self.processing_class, args)
        refuse_split_weights(
            rollout.backend_spec, is_split=self.is_fsdp_enabled or is_deepspeed_zero3_enabled()
        )
        self._plan_batches(rollout)
        self._open_rollout(rollout, evaluation, eval_dataset)
        rewards = RewardFunctions(self.reward_func_names)
        self.run_options = [self.task_environments.args, rollout, evaluation, rewards]
        self._keep_records()

    def _plan_batches(self, rollout: RolloutArguments) -> None:
        """Read what is played in a batch, how far ahead, and by what rewards are scaled."""
        args, environments = self.args, self.task_environments
        self.max_outage = rollout.failure_rules.max_outage
        self.max_staleness = getattr(args, "max_staleness", 0)
        if self.max_staleness:
            processes = self.accelerator.num_processes
            check_ahead(rollout, environments.args, processes=processes, carry_over=self.carry_over)
            check_epoch(self.train_dataset, args)
        if args.scale_rewards in (PER_ENVIRONMENT, BY_MEAN):
            self.scale_rewards = "none"  # TRL knows neither; `advantages_of` scales
        if len(environments.names) > 1:
            self.environment_names = environments.names
            self.mixture = mixture_of_rows(self.train_dataset, environments, args)
        if getattr(args, "task_sampling", "uniform") == "learnable":
            self.learnable_tasks = learnable_tasks(self.train_dataset, environments, args)
            self.add_callback(SamplingStateCallback(self.learnable_tasks))

    def _open_rollout(
        self, rollout: RolloutArguments, evaluation: EvaluationArguments, eval_dataset: Any
    ) -> None:
        """Make what plays the episodes of training and evaluations, and what keeps them."""
        args = self.args
        self._save_every = rollout.save_trajectories_every
        self._files = TrajectoryFiles.of(args, rollout)
        self.add_callback(self._files)
        environments = self.task_environments
        tokenizer = self.processing_class
        # What a checkpoint was trained on has worked: no wrong address, where it is away now.
        has_worked = any(checkpoints(Path(args.output_dir)))  # step 0 is saved without an episode
        machinery = Machinery(rollout.failure_rules, has_worked)
        policy = ModelPolicy.of_model(
            self.model,
            # A tokenizer's settings are no threads' business but one's.
            copy.deepcopy(tokenizer) if self.max_staleness else tokenizer,
            rollout,
            name=str(args.output_dir),
            seed=args.seed,
            sampling=Sampling.of(args),
            autocast=self.accelerator.autocast,
            machinery=machinery,
        )
        if self.max_staleness:
            backend: Any = policy.backend
            policy.backend = self.weights_sender = SharedBackend(
                backend, lambda: self.state.global_step
            )
        self.rollout = environments.rollout(
            policy,
            schedule=environments.schedule(rollout),
        )
        self._batch_in_step = (-1, 0)
        evaluated = environments.rollout(policy)
        machinery.on_outage = self.save_in_trainer
        self.rollout.machinery = evaluated.machinery = machinery
        self.rollout.on_trajectory = evaluated.on_trajectory = self.signs.count
        self.signs.sizes = Sizes(
            horizon=self._horizon_at,
            eval_episodes=lambda: len(validation.tasks()) * validation.samples,
            eval_turns=environments.max_turns,
        )
        validation = validation_of(
            environments, evaluated, evaluation, self._files, eval_dataset=eval_dataset
        )
        self.make_validation = lambda: validation

    def _keep_records(self) -> None:
        """Add the callbacks that write the run's files and show its progress."""
        names = self.task_environments.names
        self._schedule_state = ScheduleStateCallback(self.rollout.schedule, names=names)
        self.add_callback(self._schedule_state)
        keep_records(self, configs=self.run_options)
        self.add_callback(Announcement(title_of(self), self._plan))
        show_progress(self)

    def _horizon_at(self, step: int) -> float:
        """Return the turn limit of a step's episodes, the mean over environments."""
        schedule = self.rollout.schedule
        if schedule is None:
            return float(self.task_environments.max_turns)
        schedules = schedule.values() if isinstance(schedule, Mapping) else [schedule]
        return fmean(one(step) for one in schedules)

    def playing_batch(self, episodes: int) -> AbstractContextManager[None]:
        """Give signs of life while a training batch is played."""
        name = f"step {self.state.global_step + 1}"
        return self.signs.playing(name, episodes, is_evaluation=False)

    def _plan(self) -> Plan:
        """Return what the run is about to do, for people."""
        args, environments = self.args, self.task_environments
        _, rollout, evaluation, rewards = self.run_options
        split = environments.args.split
        tasks = self.train_dataset
        num_tasks = len(tasks) if hasattr(tasks, "__len__") else None
        tasks_shown = environments.plan(split, num_tasks=num_tasks)
        horizon = rollout.horizon
        if isinstance(horizon, dict):
            horizon = ", ".join(f"{name} {one}" for name, one in horizon.items())
        if horizon is not None:
            tasks_shown += f", horizon {horizon}"
        batch = args.generation_batch_size
        steps = args.steps_per_generation * args.num_iterations / args.gradient_accumulation_steps
        per_batch = "a step" if steps == 1 else f"every {steps:g} steps"
        return {
            "policy": describe_policy(
                self.accelerator.unwrap_model(self.model), self.accelerator.autocast
            ),
            "tasks": tasks_shown,
            "reward": rewards.plan(args.reward_weights),
            "history": history_plan(self.processing_class),
            "batch": f"{batch} episodes {per_batch}: {batch // args.num_generations} tasks "
            f"x {args.num_generations}; {rate_plan(args)}",
            "measured": evaluation_plan(
                args,
                num_tasks=len(self.eval_dataset or ()),
                samples=evaluation.eval_samples,
                split=environments.args.eval_split,
            ),
        }

    @property
    def normalizes_by_environment(self) -> bool:
        """Advantages are scaled by what is paid in their environment alone."""
        return self.args.scale_rewards == PER_ENVIRONMENT

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
        logged = self._metrics["train" if self.model.training else "eval"]
        logged[BATCH_ZERO_STD].append(share)
        return whitened

    def turn_rewards(self, episodes: EpisodeBatch) -> list[list[float]]:
        """Return what each turn of this process's episodes is paid; see `rewards_by_turn`."""
        weights = self.reward_weights.tolist()
        return rewards_by_turn(
            episodes.trajectories,
            episodes.local(episodes.rewards).nan_to_num(nan=0.0).tolist(),
            of_environment=weights[0] if self._pays_by_turn else 0.0,
            of_invalid=weights[-1] * getattr(self.args, "invalid_action_penalty", 0.0),
        )

    def keep_episodes(self, trajectories: list[Trajectory]) -> None:
        """Write the episodes of this process to the file of the step that they train.

        Metrics, curve and terminal have that step's number for them, so the record has it too.
        """
        taken = self.state.global_step
        if self._save_every and taken % self._save_every == 0:
            episodes = [replace(one, global_step=taken + 1) for one in trajectories]
            self._files.write("train", taken + 1, episodes)

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """Train; see `transformers.Trainer.train`. The episodes are written, however it ends."""
        try:
            return super().train(*args, **kwargs)
        finally:
            self._files.flush()

    def on_episodes(self, metrics: dict[str, float]) -> None:
        """Record the success of all processes' episodes, for the horizon and the next tasks."""
        self._schedule_state.record(self.state.global_step, metrics, horizon_step=self.horizon_step)
        if self.learnable_tasks is not None:
            own = [(t.task_id, t.success) for t in self.trajectories if t.status != "failed"]
            self.learnable_tasks.record(
                gather_object(own) if self.accelerator.num_processes > 1 else own
            )

    def rollout_options(self, ahead: int = 0) -> dict[str, Any]:
        """Return the batch's step, temperature and stream of random numbers."""
        step = self.state.global_step + ahead
        last_step, batch = self._batch_in_step
        batch = batch + 1 if last_step == step else 0
        self._batch_in_step = (step, batch)
        return {
            "global_step": self.state.global_step,
            "temperature": self.args.temperature,
            "stream": (_TRAINING_STREAM, step, batch, self.args.process_index),
        }


def _checked(model: Any) -> Any:
    """Return a model, loaded or by its name or folder, that a trainer can take.

    TRL would load the folder of an adapter alone with the adapter beside the weights.
    """
    if isinstance(model, str):
        model = resolve_model(model)
        if base_of_adapter(model) is not None:
            return load_policy(ModelArguments(model_name_or_path=model))[0]
        check_named(model)
    else:
        check_loaded(model)
    return model


def use_revision_for_reference(args: Any, revision: str | None) -> None:
    """Let TRL load the KL's reference, which it names by the model alone, at its revision.

    TRL warns that the policy itself ignores the revision, so the default is left out.
    """
    if args.beta and revision not in (None, "main"):
        args.model_init_kwargs = {**(args.model_init_kwargs or {}), "revision": revision}


def train_online(
    argv: list[str] | None,
    *,
    algorithm: str,
    trainer: type[OnlineTrainer],
    description: str,
) -> int:
    """Run a training command.

    Args:
        argv: the options; None takes the process's own.
        algorithm: the command's name.
        trainer: made from the policy, the environments and the options.
        description: what the command does.

    Returns:
        The exit status.
    """
    env, rollout, evaluation, run, model_args, args = parse_training(
        argv, algorithm=algorithm, config=trainer.config, description=description
    )
    model, tokenizer = load_policy(model_args, args)
    use_revision_for_reference(args, model_args.model_revision)
    with refusing():
        made: Any = trainer(
            model,
            env,
            args=args,
            rollout=rollout,
            evaluation=evaluation,
            processing_class=tokenizer,
            peft_config=adapter_config(model_args),
        )
    run_training(
        made,
        command=f"train {algorithm}",
        resume=run.resume,
        configs=[model_args],
        environments=made.task_environments,
    )
    return 0
