"""Evaluation during training: plays the evaluation split and reports `eval_success`.

Of several processes each plays its share of the episodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from math import inf, nextafter
from typing import Any

from accelerate.utils import gather_object

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.evaluation.results import EnvironmentResult, EvalResult
from trainers.evaluation.summary import summarize
from trainers.options.arguments import EvaluationArguments
from trainers.options.configs import SUCCESS_METRIC
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from trainers.runs.records import TrajectoryFiles, weights_step
from trainers.runs.success import FRESH

SPLITS = ("train", "validation", "test")
"""Splits of every environment."""
VALIDATION_STREAM = 1
"""Names the random numbers of evaluations apart from those of training batches."""
_FRESH_STREAM = 6


def validation_ids(environments: Environments, evaluation: EvaluationArguments) -> list[str]:
    """List the tasks of evaluations during training, equally many per environment."""
    chosen = environments.args
    ids = environments.task_ids(chosen.eval_split, tasks=chosen.eval_tasks, option="eval_split")
    return environments.spread(ids, evaluation.num_eval_tasks)


def prompts_of(name: str, dataset: Any, environments: Environments) -> list[str]:
    """Return the task ids that a dataset has as its prompts, for an argument's `name`.

    Raises `ValueError` unless it is one dataset of rows whose `prompt` is a task id.
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
                "by trainers.task_dataset(task_ids), since the environment writes the prompts"
            )
    return prompts


class Validation:
    """The evaluations of a training run.

    Args:
        environments: where tasks are played.
        rollout: plays them.
        evaluation: how success is measured.
        files: where this process's episodes are written.
        eval_dataset: rows whose `prompt` is a task id; by default the evaluation split's tasks.
        pause: stops other use of environments and policy during an evaluation.

    Attributes:
        samples: episodes per task.
    """

    def __init__(
        self,
        environments: Environments,
        rollout: Rollout,
        evaluation: EvaluationArguments,
        files: TrajectoryFiles,
        *,
        eval_dataset: Any = None,
        pause: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._pause = pause
        self.samples = evaluation.eval_samples
        self._environments = environments
        self._rollout = rollout
        self._evaluation = evaluation
        self._files = files
        self._tasks: list[str] | None = None
        if eval_dataset is not None:
            self._tasks = prompts_of("eval_dataset", eval_dataset, environments)

    def tasks(self) -> list[str]:
        """Return the task ids, or raise `ValueError` if there are none."""
        if self._tasks is None:
            self._tasks = validation_ids(self._environments, self._evaluation)
        return self._tasks

    def play(
        self, task_ids: list[str], global_step: int, stream: Sequence[int]
    ) -> list[Trajectory]:
        """Play tasks with weights of a step and the random numbers that a `stream` names."""
        # What was trained is worth waiting for.
        self._rollout.machinery.has_worked |= global_step > 0
        return self._rollout.run(
            task_ids,
            temperature=self._evaluation.eval_temperature,
            global_step=global_step,
            stream=stream,
        )

    def evaluate(self, trainer: Any, eval_dataset: Any, prefix: str) -> dict[str, float]:
        """Play, log and return the metrics, with a `prefix`, of given tasks or the validation's."""
        trainer.model.eval()  # TRL logs under `eval_` what follows.
        tasks, label = self.tasks(), prefix
        if eval_dataset is not None:
            tasks = prompts_of("eval_dataset", eval_dataset, self._environments)
            label = _label_of(tasks, self._environments, label)
        state, step = trainer.state, trainer.state.global_step
        if not trainer.is_in_train:
            step = weights_step(trainer.args, state, trainer.control)
        values = self._measure(trainer, tasks, label, step)
        metrics = {f"{prefix}_{name}": value for name, value in values.items()}
        trainer.control = trainer.callback_handler.on_evaluate(
            trainer.args, state, trainer.control, metrics
        )
        if trainer.is_in_train and step == 0:
            _let_start_compete(trainer, metrics)
        return metrics

    def chose_by_noise(self, state: Any) -> bool:
        """Return whether the best weights' own evaluation is a maximum over sampled episodes.

        One evaluation chose nothing, and greedy episodes would be the same again.
        """
        count = sum(SUCCESS_METRIC in entry for entry in state.log_history)
        return count > 1 and self._evaluation.eval_temperature > 0

    def measure_again(self, trainer: Any) -> None:
        """Play the best weights with random numbers that no evaluation had, and log it.

        The expected maximum of noisy evaluations lies above the success of every one of them.
        """
        trainer.model.eval()
        step = int(trainer.state.best_global_step)
        self._measure(trainer, self.tasks(), FRESH, step, stream=_FRESH_STREAM)

    def _measure(
        self,
        trainer: Any,
        tasks: Sequence[str],
        label: str,
        step: int,
        *,
        stream: int = VALIDATION_STREAM,
    ) -> dict[str, float]:
        """Play tasks, log the metrics under a label, and return them without it."""
        task_ids = [task_id for task_id in tasks for _ in range(self.samples)]
        with self._pause():
            start = time.perf_counter()
            result = summarize(self._play_share(trainer, task_ids, label, step, stream))
        values = _values(result)
        values["runtime"] = max(gather_object([time.perf_counter() - start]))
        for name, row in result.environments.items():
            values |= {f"{key}/{name}": value for key, value in _values(row).items()}
        logged = {f"{label}_{name}": value for name, value in values.items()}
        is_present = step == trainer.state.global_step
        trainer.log(logged if is_present else {"global_step": step, **logged})
        return values

    def _play_share(
        self, trainer: Any, task_ids: Sequence[str], label: str, step: int, stream: int
    ) -> list[Trajectory]:
        """Play this process's share of the tasks and return all processes' episodes without tokens.

        A share's random numbers are its own, else two processes would sample alike. A heartbeat
        is logged meanwhile, and a signal ends it with a checkpoint.
        """
        accelerator = trainer.accelerator
        processes, rank = accelerator.num_processes, accelerator.process_index
        places = range(rank, len(task_ids), processes)
        share = () if processes == 1 else (rank,)
        title = f"{_TITLES.get(label, label)} at step {step}"
        with (
            trainer.heartbeat.writing(),
            trainer.heartbeat.playing(title, len(places), is_evaluation=True),
            trainer.playing(),
        ):
            trajectories = self.play([task_ids[place] for place in places], step, (stream, *share))
            name = label if label in _TITLES else f"eval_{label.replace('/', '_')}"
            self._files.write(name, step, trajectories, replace=True)
        if processes == 1:
            return trajectories
        bare = [replace(trajectory, traces=[]) for trajectory in trajectories]
        gathered = dict(gather_object(list(zip(places, bare, strict=True))))
        return [gathered[place] for place in sorted(gathered)]


_TITLES = {"eval": "evaluation", FRESH: "fresh episodes of the weights"}
"""The labels that files are named by, in words."""


def _let_start_compete(trainer: Any, metrics: dict[str, float]) -> None:
    """Save the weights before training as the best so far, which an equal later one replaces.

    transformers chooses among checkpoints of later steps alone.
    """
    if not trainer.args.load_best_model_at_end:
        return
    trainer._determine_best_metric(metrics, trial=None)
    state = trainer.state
    worse = -inf if trainer.args.greater_is_better else inf
    state.best_metric = nextafter(state.best_metric, worse)
    state.best_global_step = 0
    state.best_model_checkpoint = str(trainer._checkpoint_folder())
    trainer._save_checkpoint(trainer.model_wrapped, trial=None)
    trainer.control = trainer.callback_handler.on_save(trainer.args, state, trainer.control)


def _label_of(tasks: Sequence[str], environments: Environments, prefix: str) -> str:
    """Return the prefix under which an evaluation of given tasks is logged, such as its split.

    Success on the test split under `eval` would count as a validation: in the curve, on the card.
    """
    if prefix != "eval" or set(tasks) <= set(environments.task_ids(environments.args.eval_split)):
        return prefix
    splits = (split for split in SPLITS if set(tasks) <= set(environments.task_ids(split)))
    return next(splits, "chosen")


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
        "cut_answers": float(result.cut_answers) if isinstance(result, EvalResult) else None,
    }
    return {key: value for key, value in values.items() if value is not None}
