"""The plan of a run, in the words of its first lines."""

from __future__ import annotations

from typing import Any

from trainers.models.loading import describe_policy
from trainers.options.arguments import EvaluationArguments
from trainers.runs.announcement import Plan, evaluation_plan, history_plan, rate_plan


def online_plan(trainer: Any) -> Plan:
    """Return the plan of a trainer that plays while it learns."""
    args, environments = trainer.args, trainer.task_environments
    _, rollout, evaluation, rewards = trainer.run_options
    split = environments.args.split
    tasks = trainer.train_dataset
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
            trainer.accelerator.unwrap_model(trainer.model), trainer.accelerator.autocast
        ),
        "tasks": tasks_shown,
        "reward": rewards.plan(args.reward_weights),
        "history": history_plan(trainer.processing_class),
        "batch": f"{batch} episodes {per_batch}: {batch // args.num_generations} tasks "
        f"x {args.num_generations}; {rate_plan(args)}",
        "measured": evaluation_plan(
            args,
            num_tasks=len(trainer.eval_dataset or ()),
            samples=evaluation.eval_samples,
            split=environments.args.eval_split,
        ),
    }


def offline_plan(trainer: Any, evaluation: EvaluationArguments, trained_on: str) -> Plan:
    """Return the plan of a trainer on saved episodes."""
    args = trainer.args
    per_step = args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size
    rows = len(trainer.train_dataset)
    passes = args.max_steps * per_step / rows if args.max_steps > 0 else args.num_train_epochs
    plan = {
        "policy": describe_policy(
            trainer.accelerator.unwrap_model(trainer.model), trainer.accelerator.autocast
        ),
        "history": history_plan(trainer.processing_class),
        "batch": f"{per_step} a step, of {rows} {trainer.row_name} of {trained_on}, "
        f"{passes:.1f} times each; {rate_plan(args)}",
    }
    if args.eval_strategy != "no":
        environments = trainer.task_environments
        names, split = ", ".join(environments.names.values()), environments.args.eval_split
        plan["measured"] = evaluation_plan(
            args,
            num_tasks=len(trainer.validation.tasks()),
            samples=evaluation.eval_samples,
            split=split if names == trained_on else f"{names} ({split})",
        )
    return plan
