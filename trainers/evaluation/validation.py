"""Evaluation during training: plays the evaluation split and reports `eval_success`.

Shared by the trainers as a mixin over `transformers.Trainer`. Of several processes each plays its
share of the episodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from accelerate.utils import gather_object

from agentgym_envs.trajectory import Trajectory
from trainers.evaluation.results import EnvironmentResult, EvalResult, summarize
from trainers.models.loading import describe_policy
from trainers.options.arguments import EvaluationArguments, RolloutArguments
from trainers.options.values import check_names
from trainers.policies.model import ModelPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.mixtures import spread
from trainers.rollout.rollout import Rollout
from trainers.runs.announcement import Announcement, Plan, evaluation_plan, title_of
from trainers.runs.progress import use_short_progress
from trainers.runs.records import keep_records
from trainers.runs.trajectories import TrajectoryFiles

VALIDATION_STREAM = 1
"""Names the random numbers of evaluations apart from those of training batches."""


@dataclass(frozen=True)
class Validation:
    """What is played, and how.

    Attributes:
        tasks: lists the task ids.
        samples: episodes per task.
        play: plays task ids at a global step; the same random numbers at every call with the same
            numbers, which name a process's share.
        on_played: what is done with this process's episodes, such as writing them to a file.
    """

    tasks: Callable[[], Sequence[str]]
    samples: int
    play: Callable[[list[str], int, Sequence[int]], list[Trajectory]]
    on_played: Callable[[int, list[Trajectory]], None]


def validation_ids(environments: Environments, evaluation: EvaluationArguments) -> list[str]:
    """List the tasks that evaluations during training play; environments have as many each."""
    ids = environments.task_ids(environments.args.eval_split)
    return spread(ids, evaluation.num_eval_tasks)


def prompts_of(name: str, dataset: Any, environments: Environments) -> list[str]:
    """Return the task ids that a dataset has as its prompts.

    Args:
        name: the argument's, for the message.
        dataset: rows whose `prompt` is a task id.
        environments: where they are played.

    Raises:
        ValueError: it has no such prompts, or is several datasets.
    """
    prompts: list[Any] = []
    if "prompt" in (getattr(dataset, "column_names", None) or ()):
        prompts = list(dataset["prompt"])  # the rows one by one would take seconds
    elif not isinstance(dataset, Mapping | str):
        rows = list(dataset)
        if all(isinstance(row, Mapping) and "prompt" in row for row in rows):
            prompts = [row["prompt"] for row in rows]
    if not prompts:
        raise ValueError(
            f"{name} must be one dataset of rows whose `prompt` is a task id, got {dataset!r:.80}; "
            "make it by trainers.task_dataset(task_ids)"
        )
    for prompt in prompts:
        if not (isinstance(prompt, str) and prompt.rpartition("_")[0] in environments.vectors):
            names = ", ".join(environments.vectors)
            raise ValueError(
                f"the prompts of {name} must be task ids of {names}, got {prompt!r:.60}; make it "
                "by trainers.task_dataset(task_ids): what the policy reads is the environment's"
            )
    return prompts


def validation_of(
    environments: Environments,
    rollout: Rollout,
    evaluation: EvaluationArguments,
    files: TrajectoryFiles,
    *,
    eval_dataset: Any = None,
) -> Validation:
    """Return evaluations by a rollout, whose episodes are written to `files`.

    Args:
        environments: what is played.
        rollout: plays.
        evaluation: how success is measured.
        files: where this process's episodes are written.
        eval_dataset: rows whose `prompt` is a task id; by default the evaluation split's tasks.
    """

    def play(task_ids: list[str], global_step: int, share: Sequence[int]) -> list[Trajectory]:
        return rollout.run(
            task_ids,
            temperature=evaluation.eval_temperature,
            global_step=global_step,
            stream=(VALIDATION_STREAM, *share),
        )

    given = None
    if eval_dataset is not None:
        given = prompts_of("eval_dataset", eval_dataset, environments)
    return Validation(
        tasks=cache(lambda: validation_ids(environments, evaluation) if given is None else given),
        samples=evaluation.eval_samples,
        play=play,
        on_played=lambda step, trajectories: files.write("eval", step, trajectories),
    )


class RolloutEvaluationMixin:
    """A mixin that makes `Trainer.evaluate` play episodes, where there is an environment.

    Attributes:
        make_validation: makes what is played; None where there is no environment.
        environments_played: the environments, None where there are none.
    """

    make_validation: Callable[[], Validation] | None = None
    environments_played: Environments | None = None

    @cached_property
    def validation(self) -> Validation | None:
        """What is played, made when it is first asked for."""
        return None if self.make_validation is None else self.make_validation()

    def evaluate(
        self: Any,
        eval_dataset: Any = None,
        ignore_keys: list[str] | None = None,
        metric_key_prefix: str = "eval",
    ) -> dict[str, float]:
        """Play the validation tasks, log what came out, and return it.

        Args:
            eval_dataset: rows whose `prompt` is a task id, in place of the validation's tasks.
            ignore_keys: has no effect on episodes.
            metric_key_prefix: how the names of the metrics begin.

        Returns:
            `<prefix>_success`, `_score`, `_turns`, `_invalid_actions`, `_failed`, `_runtime` and
            the bounds of the 95% interval of the success. Of several environments these are means
            over them, and each has its own, such as `<prefix>_success/TextCraft`.

        Raises:
            ValueError: there is no environment.
        """
        validation = self.validation
        if validation is None:
            raise ValueError(
                f"there is nothing to play: make the {type(self).__name__} with env=, such as "
                'env="TextCraft"'
            )
        start = time.perf_counter()
        # TRL logs under `eval_` what follows.
        self.model.eval()
        tasks = validation.tasks()
        if eval_dataset is not None:
            tasks = prompts_of("eval_dataset", eval_dataset, self.environments_played)
        task_ids = [task_id for task_id in tasks for _ in range(validation.samples)]
        with self.playing():
            played = self._play_share(validation, task_ids)
        result = summarize(played)
        values = _values(result)
        values["runtime"] = max(gather_object([time.perf_counter() - start]))
        for name, of_one in result.environments.items():
            values |= {f"{key}/{name}": value for key, value in _values(of_one).items()}
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in values.items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def _play_share(self: Any, validation: Validation, task_ids: Sequence[str]) -> list[Trajectory]:
        """Play this process's share of the tasks; return all processes' episodes, without tokens.

        A share's random numbers are its own, else two processes would sample alike.
        """
        processes, rank = self.accelerator.num_processes, self.accelerator.process_index
        places = range(rank, len(task_ids), processes)
        share = () if processes == 1 else (rank,)
        step = self.state.global_step
        trajectories: list[Trajectory] = validation.play(
            [task_ids[place] for place in places], step, share
        )
        validation.on_played(step, trajectories)
        if processes == 1:
            return trajectories
        bare = [replace(trajectory, traces=[]) for trajectory in trajectories]
        gathered = dict(gather_object(list(zip(places, bare, strict=True))))
        return [gathered[place] for place in sorted(gathered)]


def _values(result: EvalResult | EnvironmentResult) -> dict[str, float]:
    low, high = result.ci95 or (None, None)
    values = {
        "success": result.success,
        "success_low": low,
        "success_high": high,
        "score": result.score,
        "turns": result.mean_turns,
        "invalid_actions": result.invalid_rate,
        "failed": float(result.failures),
    }
    return {key: value for key, value in values.items() if value is not None}


def watch_by_playing(
    trainer: Any,
    environments: Environments | None,
    rollout: RolloutArguments,
    evaluation: EvaluationArguments,
    *,
    eval_dataset: Any = None,
) -> None:
    """Let a trainer that learns from saved episodes keep its metrics, and evaluate by playing.

    Args:
        trainer: a `RolloutEvaluationMixin` trainer whose `row_name` says what it is trained on.
        environments: what evaluations play; without them there are none.
        rollout: how evaluation episodes are played.
        evaluation: how success is measured.
        eval_dataset: rows whose `prompt` is a task id; by default the evaluation split's tasks.

    Raises:
        ValueError: there are tasks and no environment to play them.
    """
    args = trainer.args
    if environments is None and eval_dataset is not None:
        raise ValueError(
            "eval_dataset names tasks to play, and there is no environment; pass env as well"
        )
    played = [] if environments is None else [environments.args]
    trainer.run_options = [*played, rollout, evaluation]
    trainer.max_outage = rollout.failure_rules.max_outage
    keep_records(trainer, configs=trainer.run_options)
    trainer.add_callback(Announcement(title_of(trainer), lambda: _plan(trainer, evaluation)))
    use_short_progress(trainer)
    if environments is None:
        return
    check_names(rollout, environments.env_ids)
    trainer.environments_played = environments
    trainer.make_validation = lambda: _validation_beside(
        trainer, environments, rollout, evaluation, eval_dataset=eval_dataset
    )
    if args.eval_strategy != "no" or eval_dataset is not None:
        trainer.validation.tasks()  # raises where there are none


def _plan(trainer: Any, evaluation: EvaluationArguments) -> Plan:
    """Return what a run on saved episodes is about to do, for people."""
    args = trainer.args
    per_step = args.per_device_train_batch_size * args.gradient_accumulation_steps
    plan = {
        "policy": describe_policy(trainer.accelerator.unwrap_model(trainer.model)),
        "batch": f"{per_step * args.world_size} a step, of {len(trainer.train_dataset)} "
        f"{trainer.row_name}",
    }
    if args.eval_strategy != "no":
        plan["measured"] = evaluation_plan(
            args,
            num_tasks=len(trainer.validation.tasks()),
            samples=evaluation.eval_samples,
            split=trainer.environments_played.args.eval_split,
        )
    return plan


def _validation_beside(
    trainer: Any,
    environments: Environments,
    rollout: RolloutArguments,
    evaluation: EvaluationArguments,
    *,
    eval_dataset: Any,
) -> Validation:
    """Return evaluations by the policy of a trainer that does not play itself."""
    policy = ModelPolicy.of_model(
        trainer.model,
        trainer.processing_class,
        rollout,
        name=str(trainer.args.output_dir),
        seed=trainer.args.seed,
        overlap=environments.args.overlap,
    )
    files = TrajectoryFiles.of(trainer.args, rollout)
    trainer.add_callback(files)
    played = environments.rollout(policy, failure_rules=rollout.failure_rules)
    played.on_outage = trainer.save_now
    return validation_of(environments, played, evaluation, files, eval_dataset=eval_dataset)
