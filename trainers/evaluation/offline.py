"""Evaluations that play, beside a trainer that learns from saved episodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from transformers.integrations import is_deepspeed_zero3_enabled

from agentgym_envs.registration.registry import registered_ids, short_env_name
from agentgym_envs.trajectories.conversations import UNNAMED
from trainers.evaluation.validation import Validation
from trainers.options.arguments import EvaluationArguments, RolloutArguments
from trainers.options.checks import refuse_split_weights
from trainers.options.values import check_names
from trainers.plans import Announcement, algorithm_title, offline_plan
from trainers.policies.model import ModelPolicy
from trainers.rollout.environments import Environments
from trainers.runs.progress import show_progress
from trainers.runs.records import TrajectoryFiles, keep_records


@dataclass
class TrainedOn:
    """The entry of a run's record that names the environments of its saved episodes."""

    trained_on: list[str]


def watch_by_playing(
    trainer: Any,
    environments: Environments | None,
    rollout: RolloutArguments,
    evaluation: EvaluationArguments,
    *,
    scenarios: Iterable[str],
    eval_dataset: Any = None,
) -> None:
    """Record the metrics of a trainer on saved episodes, and evaluate it by playing.

    Args:
        trainer: a `RunMixin` trainer whose `row_name` names a row of its data.
        environments: where evaluations play; None evaluates nothing.
        rollout: how evaluation episodes are played.
        evaluation: how success is measured.
        scenarios: the names in front of the task ids of the training data.
        eval_dataset: rows whose `prompt` is a task id; by default the evaluation split's tasks.

    Raises:
        ValueError: there are tasks and no environment to play them, or the weights are split.
    """
    args = trainer.args
    if environments is None and eval_dataset is not None:
        raise ValueError(
            "eval_dataset names tasks to play, and there is no environment; pass env as well"
        )
    env_options = [] if environments is None else [environments.args]
    known = {name.lower(): name for name in map(short_env_name, registered_ids())}
    known |= {} if environments is None else environments.names
    known[UNNAMED] = "conversations"
    trained_on = [known.get(name, name) for name in sorted(set(scenarios))]
    trainer.run_options = [*env_options, rollout, evaluation, TrainedOn(trained_on)]
    trainer.max_outage = rollout.failure_rules.max_outage
    keep_records(trainer, configs=trainer.run_options)
    plan = partial(offline_plan, trainer, ", ".join(trained_on))
    trainer.add_callback(Announcement(algorithm_title(trainer), plan))
    show_progress(trainer)
    if environments is None:
        return
    check_names(rollout, environments.env_ids)
    trainer.task_environments = environments

    trainer.make_validation = partial(
        _make_validation, trainer, environments, rollout, evaluation, eval_dataset
    )
    if args.eval_strategy != "no" or eval_dataset is not None:
        trainer.validation.tasks()  # raises where there are none


def _make_validation(
    trainer: Any,
    environments: Environments,
    rollout: RolloutArguments,
    evaluation: EvaluationArguments,
    eval_dataset: Any,
) -> Validation:
    """Make the evaluation of a trainer's model by playing."""
    refuse_split_weights(
        rollout.backend_spec, is_split=trainer.is_fsdp_enabled or is_deepspeed_zero3_enabled()
    )
    policy = ModelPolicy.from_model(
        trainer.model,
        trainer.processing_class,
        rollout,
        name=str(trainer.args.output_dir),
        seed=trainer.args.seed,
        autocast=trainer.accelerator.autocast,
    )
    files = TrajectoryFiles.from_args(trainer.args, rollout)
    trainer.add_callback(files)
    evaluated = environments.rollout(policy, failure_rules=rollout.failure_rules)
    evaluated.machinery.on_outage = trainer.save_now
    evaluated.on_trajectory = trainer.heartbeat.count
    return Validation(environments, evaluated, evaluation, files, eval_dataset=eval_dataset)
