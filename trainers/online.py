"""The trainer that plays while it learns, and its command; each algorithm is a subclass.

Knows episodes, rewards and files; what an episode's tokens are credited with is the algorithm's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentgym_envs.trajectory import Trajectory
from trainers.command import parse_training, run_training
from trainers.credit.rewards import (
    RewardFunc,
    agent_reward,
    invalid_action_penalty,
    leaving_out_failed,
)
from trainers.evaluation.validation import PlaysValidation, validation_ids, validation_of
from trainers.models.loading import adapter_config, load_policy, resolve_model
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.configs import AgentOnlineConfig
from trainers.options.errors import MISSING_TRAIN_EXTRA, CommandError
from trainers.options.refused import refuse_ignored
from trainers.policies.model import PolicyPlayer
from trainers.rollout.environments import Environments
from trainers.runs.progress import use_short_progress
from trainers.runs.records import TrajectoryFiles, keep_records
from trainers.runs.schedule_state import KeepsSchedule
from trainers.tokens.generation import Sampling
from trainers.trl_bridge import EpisodeTrainer, task_dataset
from trainers.trl_bridge.reuse import KeepsBatches

try:
    from transformers.integrations import is_deepspeed_zero3_enabled
except ImportError as error:
    raise ImportError(MISSING_TRAIN_EXTRA) from error

_TRAINING_STREAM = 0


class OnlineTrainer(KeepsBatches, PlaysValidation, EpisodeTrainer):
    """A `trl.GRPOTrainer` that plays its episodes in text environments.

    An algorithm subclasses it, names its config, and says in `advantages_of` what an episode's
    tokens are credited with.

    Args:
        model: a Hugging Face id, a folder, `"tiny"`, or a loaded model.
        env: an environment's name, `EnvArguments`, or ready `Environments`.
        args: the algorithm's config, or TRL's own `GRPOConfig`.
        rollout: how episodes are played and what is kept of them.
        evaluation: how success is measured during training.
        reward_funcs: TRL reward functions; by default the episode's return. They are given
            the columns of `trainers.credit.rewards.reward_columns`, and are not asked about failed
            episodes.
        train_dataset: rows whose `prompt` is a task id; by default the split's tasks.
        processing_class: the tokenizer; by default the model's.
        **kwargs: passed to `trl.GRPOTrainer`, such as `peft_config` and `callbacks`.

    Raises:
        ValueError: the tasks do not fill a batch, or an argument does not fit the others.
    """

    config: type[Any] = AgentOnlineConfig
    """Of the training options, where none are given."""

    def __init__(
        self,
        model: Any,
        env: str | EnvArguments | Environments,
        *,
        args: Any = None,
        rollout: RolloutArguments | None = None,
        evaluation: EvaluationArguments | None = None,
        reward_funcs: RewardFunc | Sequence[RewardFunc] | None = None,
        train_dataset: Any = None,
        processing_class: Any = None,
        **kwargs: Any,
    ) -> None:
        args = self.config() if args is None else args
        rollout = RolloutArguments() if rollout is None else rollout
        evaluation = EvaluationArguments() if evaluation is None else evaluation
        refuse_ignored(args, self.config.refused)
        self.environments_played = open_environments(env, episodes=args.generation_batch_size)
        chosen = self.environments_played.args
        if train_dataset is None:
            ids = self.environments_played.task_ids(chosen.split, tasks=chosen.tasks)
            train_dataset = task_dataset(ids)
        _refuse_too_few_tasks(train_dataset, args)
        validates = args.eval_strategy != "no"
        eval_dataset = None
        if validates:
            eval_dataset = task_dataset(validation_ids(self.environments_played, evaluation))
        self.mask_truncated_episodes = rollout.mask_truncated_episodes
        super().__init__(
            model=resolve_model(model) if isinstance(model, str) else model,
            reward_funcs=_reward_list(reward_funcs, getattr(args, "invalid_action_penalty", 0.0)),
            args=args,
            train_dataset=train_dataset,
            eval_dataset=eval_dataset,
            processing_class=processing_class,
            **kwargs,
        )
        _refuse_split_weights(
            rollout.backend, is_split=self.is_fsdp_enabled or is_deepspeed_zero3_enabled()
        )
        self._open_player(rollout, evaluation, validates=validates)
        self._keeps_schedule = KeepsSchedule(self._player.schedule)
        self.add_callback(self._keeps_schedule)
        keep_records(self, configs=[chosen, rollout, evaluation])
        use_short_progress(self)

    def _open_player(
        self, rollout: RolloutArguments, evaluation: EvaluationArguments, *, validates: bool
    ) -> None:
        """Make what plays the episodes of training and evaluations, and what keeps them."""
        args = self.args
        self._files = TrajectoryFiles.of(args, every=rollout.save_trajectories_every)
        self._player = PolicyPlayer(
            self.environments_played,
            self.model,
            self.processing_class,
            rollout,
            schedule=rollout.schedule,
            policy_name=str(args.output_dir),
            seed=args.seed,
            sampling=Sampling.of(args),
        )
        self._batch_in_step = (-1, 0)
        if validates:
            self.validation = validation_of(
                self.environments_played,
                self._player,
                evaluation,
                TrajectoryFiles.of(args),
            )

    def keep_episodes(self, trajectories: list[Trajectory]) -> None:
        """Write the episodes of this process to the step's file."""
        self._files.write("train", self.state.global_step, trajectories)

    def on_episodes(self, metrics: dict[str, float]) -> None:
        """Tell the horizon schedule how successful the episodes of all processes were."""
        self._keeps_schedule.record(self.state.global_step, metrics)

    def play(self, task_ids: list[str]) -> list[Trajectory]:
        """Play one episode per task id with the current policy."""
        step = self.state.global_step
        last_step, batch = self._batch_in_step
        batch = batch + 1 if last_step == step else 0
        self._batch_in_step = (step, batch)
        trajectories = self._player.play(
            task_ids,
            temperature=self.args.temperature,
            global_step=step,
            training=True,
            stream=(_TRAINING_STREAM, step, batch, self.args.process_index),
        )
        horizon = self._player.horizon(step)
        self.play_metrics = {} if horizon is None else {"horizon": float(horizon)}
        return trajectories


def open_environments(env: str | EnvArguments | Environments, *, episodes: int) -> Environments:
    """Return ready environments; `episodes` is the batch they will play."""
    if isinstance(env, Environments):
        return env
    if isinstance(env, str):
        env = EnvArguments(env=[env])
    return Environments(env, episodes=episodes)


def _refuse_too_few_tasks(tasks: Any, args: Any) -> None:
    """Refuse tasks that do not fill a batch: TRL would train no step, and save the model as is."""
    needed = args.generation_batch_size // args.num_generations
    if hasattr(tasks, "__len__") and len(tasks) < needed:
        raise CommandError(
            f"a batch of {args.generation_batch_size} episodes with num_generations="
            f"{args.num_generations} needs {needed} tasks, got {len(tasks)}; raise "
            "num_generations, make the batch smaller, or choose more tasks"
        )


def _refuse_split_weights(backend: str, *, is_split: bool) -> None:
    """Refuse to play in passes that all processes would have to make together."""
    if is_split and backend == "hf":
        raise CommandError(
            "backend 'hf' cannot play with weights that are split over processes: each makes as "
            "many passes as its own episodes need, so they would wait for each other for ever; "
            "use --backend vllm under FSDP2, or ZeRO-2 in place of ZeRO-3"
        )


def _use_revision_for_reference(args: Any, revision: str | None) -> None:
    """Tell TRL, which loads the KL's reference by the model's name, the policy's own revision."""
    if args.beta and revision:
        args.model_init_kwargs = {**(args.model_init_kwargs or {}), "revision": revision}


def _reward_list(
    reward_funcs: RewardFunc | Sequence[RewardFunc] | None, penalty: float
) -> list[RewardFunc]:
    if reward_funcs is None:
        given: list[RewardFunc] = [agent_reward]
    else:
        given = [reward_funcs] if callable(reward_funcs) else list(reward_funcs)
    if penalty:
        given.append(invalid_action_penalty(penalty))
    return [leaving_out_failed(function) for function in given]


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
    model, tokenizer = load_policy(model_args)
    _use_revision_for_reference(args, model_args.model_revision)
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
        configs=[env, rollout, evaluation, model_args, args],
        environments=made.environments_played,
    )
    return 0
