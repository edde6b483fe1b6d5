"""Evaluation during training: plays the evaluation split and reports `eval_success`.

Shared by the trainers as a mixin over `transformers.Trainer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_envs.trajectory import Trajectory
from trainers.evaluation.results import summarize
from trainers.options.arguments import EvaluationArguments
from trainers.policies.model import PolicyPlayer
from trainers.rollout.environments import Environments, spread
from trainers.runs.trajectories import TrajectoryFiles

VALIDATION_STREAM = 1
"""Names the random numbers of evaluations apart from those of training batches."""


@dataclass(frozen=True)
class Validation:
    """What is played, and how.

    Attributes:
        task_ids: the tasks.
        samples: episodes per task.
        play: plays task ids at a global step; the same random numbers at every call.
        on_played: what is done with the episodes, such as writing them to a file.
    """

    task_ids: Sequence[str]
    samples: int
    play: Callable[[list[str], int], list[Trajectory]]
    on_played: Callable[[int, list[Trajectory]], None]


def validation_ids(environments: Environments, evaluation: EvaluationArguments) -> list[str]:
    """List the tasks that evaluations during training play."""
    ids = environments.task_ids(environments.args.eval_split)
    return spread(ids, evaluation.num_eval_tasks)


def validation_of(
    environments: Environments,
    player: PolicyPlayer,
    evaluation: EvaluationArguments,
    files: TrajectoryFiles,
) -> Validation:
    """Return evaluations by one policy's player, whose episodes are written to `files`."""

    def play(task_ids: list[str], global_step: int) -> list[Trajectory]:
        return player.play(
            task_ids,
            temperature=evaluation.eval_temperature,
            global_step=global_step,
            stream=(VALIDATION_STREAM,),
        )

    return Validation(
        task_ids=validation_ids(environments, evaluation),
        samples=evaluation.eval_samples,
        play=play,
        on_played=lambda step, played: files.write("eval", step, played),
    )


class PlaysValidation:
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

        Returns:
            `<prefix>_success`, `_score`, `_turns`, `_invalid_actions`, `_failed`, `_runtime` and
            the bounds of the 95% interval of the success.
        """
        validation = self.validation
        if validation is None:
            return super().evaluate(eval_dataset, ignore_keys, metric_key_prefix)  # type: ignore[misc]
        start = time.perf_counter()
        # Also tells TRL that what is logged next belongs to the evaluation.
        self.model.eval()
        step = self.state.global_step
        task_ids = [t for t in validation.task_ids for _ in range(validation.samples)]
        trajectories = validation.play(task_ids, step)
        validation.on_played(step, trajectories)
        result = summarize(trajectories)
        values = {
            "success": result.success,
            "success_low": result.ci95[0],
            "success_high": result.ci95[1],
            "score": result.score,
            "turns": result.mean_turns,
            "invalid_actions": result.invalid_rate,
            "failed": float(result.failures),
            "runtime": time.perf_counter() - start,
        }
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in values.items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics
