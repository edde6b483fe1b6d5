"""Evaluation during training: plays the evaluation split and reports `eval_success`.

Shared by the trainers as a mixin over `transformers.Trainer`. Of several processes each plays its
share of the episodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from accelerate.utils import gather_object

from agentgym_envs.trajectory import Trajectory
from trainers.evaluation.results import EnvironmentResult, EvalResult, summarize
from trainers.options.arguments import EvaluationArguments, RolloutArguments
from trainers.options.values import check_names
from trainers.policies.model import ModelPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.mixtures import spread
from trainers.rollout.rollout import Rollout
from trainers.runs.progress import use_short_progress
from trainers.runs.records import keep_records
from trainers.runs.trajectories import TrajectoryFiles

VALIDATION_STREAM = 1
"""Names the random numbers of evaluations apart from those of training batches."""


@dataclass(frozen=True)
class Validation:
    """What is played, and how.

    Attributes:
        task_ids: the tasks.
        samples: episodes per task.
        play: plays task ids at a global step; the same random numbers at every call with the same
            numbers, which name a process's share.
        on_played: what is done with this process's episodes, such as writing them to a file.
    """

    task_ids: Sequence[str]
    samples: int
    play: Callable[[list[str], int, Sequence[int]], list[Trajectory]]
    on_played: Callable[[int, list[Trajectory]], None]


def validation_ids(environments: Environments, evaluation: EvaluationArguments) -> list[str]:
    """List the tasks that evaluations during training play; environments have as many each."""
    ids = environments.task_ids(environments.args.eval_split)
    return spread(ids, evaluation.num_eval_tasks)


def prompts_of(eval_dataset: Any) -> list[str]:
    """Return the task ids that a dataset has as its prompts.

    Raises:
        ValueError: it has no prompts, or is several datasets.
    """
    rows = [] if isinstance(eval_dataset, Mapping | str) else list(eval_dataset)
    if not rows or not all(isinstance(row, Mapping) and "prompt" in row for row in rows):
        raise ValueError(
            f"eval_dataset must be one dataset of rows whose `prompt` is a task id, got "
            f"{eval_dataset!r:.80}; make it by trainers.trl_bridge.task_dataset(task_ids)"
        )
    return [str(row["prompt"]) for row in rows]


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

    return Validation(
        task_ids=(
            validation_ids(environments, evaluation)
            if eval_dataset is None
            else prompts_of(eval_dataset)
        ),
        samples=evaluation.eval_samples,
        play=play,
        on_played=lambda step, trajectories: files.write("eval", step, trajectories),
    )


class RolloutEvaluationMixin:
    """A mixin that makes `Trainer.evaluate` play episodes.

    The trainer sets `validation`; where it is None, `evaluate` is the trainer's own.
    """

    validation: Validation | None = None

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
        """
        validation = self.validation
        if validation is None:
            return super().evaluate(eval_dataset, ignore_keys, metric_key_prefix)  # type: ignore[misc]
        start = time.perf_counter()
        # TRL logs under `eval_` what follows.
        self.model.eval()
        tasks = validation.task_ids if eval_dataset is None else prompts_of(eval_dataset)
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
    env: Environments | None,
    rollout: RolloutArguments,
    evaluation: EvaluationArguments,
    *,
    eval_dataset: Any = None,
) -> None:
    """Let a trainer that learns from saved episodes keep its metrics, and evaluate by playing.

    Args:
        trainer: a `RolloutEvaluationMixin` trainer.
        env: what evaluations play; without it there are none.
        rollout: how evaluation episodes are played.
        evaluation: how success is measured.
        eval_dataset: rows whose `prompt` is a task id; by default the evaluation split's tasks.

    Raises:
        ValueError: there are tasks and no environment to play them.
    """
    args = trainer.args
    if env is None and eval_dataset is not None:
        raise ValueError(
            "eval_dataset names tasks to play, and there is no environment; pass env as well"
        )
    trainer.max_outage = rollout.failure_rules.max_outage
    keep_records(trainer, configs=[rollout, evaluation])
    use_short_progress(trainer)
    if env is None or (args.eval_strategy == "no" and eval_dataset is None):
        return
    check_names(rollout, env.env_ids)
    policy = ModelPolicy.of_model(
        trainer.model,
        trainer.processing_class,
        rollout,
        name=str(args.output_dir),
        seed=args.seed,
        overlap=env.args.overlap,
    )
    files = TrajectoryFiles.of(args, rollout)
    trainer.add_callback(files)
    played = env.rollout(policy, failure_rules=rollout.failure_rules)
    played.on_outage = trainer.save_now
    trainer.validation = validation_of(
        env,
        played,
        evaluation,
        files,
        eval_dataset=eval_dataset,
    )
