"""The training tasks, and how they are drawn."""

from __future__ import annotations

from typing import Any

from agentgym_envs.core.tasks import scenario_name
from trainers.evaluation.validation import prompts_of
from trainers.options.errors import UsageError
from trainers.rollout.environments import Environments, build_mixture
from trainers.rollout.learnable import LearnableTasks
from trainers.rollout.mixtures import Mixture
from trainers.trl_bridge import task_dataset


def training_rows(tasks: Any, environments: Environments, args: Any) -> Any:
    """Return the training rows, by default the tasks of the environments' split.

    Raises:
        UsageError: they do not fill a batch: TRL would train no step, and save the model as is.
    """
    if tasks is None:
        tasks = task_dataset(environments.split_ids())
    elif hasattr(tasks, "__len__"):
        prompts_of("train_dataset", tasks, environments)
    needed = args.generation_batch_size // args.num_generations
    if hasattr(tasks, "__len__") and len(tasks) < needed:
        raise UsageError(
            f"a batch of {args.generation_batch_size} episodes with num_generations="
            f"{args.num_generations} needs {needed} tasks, got {len(tasks)}; raise "
            "num_generations, make the batch smaller, or choose more tasks"
        )
    return tasks


def row_task_ids(tasks: Any, *, option: str) -> list[str]:
    """Return the task id of each training row, or raise `UsageError` for a stream.

    `option` is the option that draws from them.
    """
    if not hasattr(tasks, "__len__"):
        raise UsageError(
            f"`{option}` draws from a list of tasks, got an iterable dataset; make it a list, or "
            "leave the option out"
        )
    rows = tasks["prompt"] if hasattr(tasks, "column_names") else [r["prompt"] for r in tasks]
    return list(rows)


def row_mixture(tasks: Any, environments: Environments, args: Any) -> Mixture | None:
    """Return the mixture of training tasks, or None for a stream.

    Raises:
        UsageError: they are a stream, and `mix` weighs environments.
    """
    if not hasattr(tasks, "__len__"):
        if environments.args.mix is not None:
            raise UsageError("`mix` cannot weigh the tasks of an iterable dataset; mix them in it")
        return None
    seed = args.seed if args.shuffle_dataset else None
    prompts = row_task_ids(tasks, option="mix")
    return build_mixture(map(scenario_name, prompts), environments, seed=seed)


def learnable_tasks(tasks: Any, environments: Environments, args: Any) -> LearnableTasks:
    """Return the training tasks that are drawn by the policy's success on them."""
    prompts = row_task_ids(tasks, option="task_sampling=learnable")
    rows: dict[str, list[int]] = {}
    for row, task_id in enumerate(prompts):
        rows.setdefault(scenario_name(task_id), []).append(row)
    weights = {name: environments.weights.get(name, 1) for name in rows}
    batch = args.generation_batch_size // args.num_generations
    return LearnableTasks(prompts, rows, weights, seed=args.seed, batch=batch)


def check_epoch(tasks: Any, args: Any) -> None:
    """Raise `UsageError` if an epoch is a single batch: its first one is not prefetched."""
    batch = args.generation_batch_size // args.num_generations
    if hasattr(tasks, "__len__") and len(tasks) < 2 * batch:
        raise UsageError(
            f"max_staleness={args.max_staleness} plays within an epoch, and one of {len(tasks)} "
            f"tasks has a single batch of {batch}, which is not played ahead; choose more tasks, "
            "make the batch smaller, or pass `max_staleness=0`"
        )
