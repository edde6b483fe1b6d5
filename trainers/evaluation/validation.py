"""Evaluation during training: plays the evaluation split and reports `eval_success`.

Shared by the trainers as a mixin over `transformers.Trainer`. Of several processes each plays its
share of the episodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import inf, nextafter
from typing import Any

from accelerate.utils import gather_object

from agentgym_envs.trajectory import Trajectory
from trainers.evaluation.results import EnvironmentResult, EvalResult
from trainers.evaluation.summary import summarize
from trainers.options.arguments import EvaluationArguments
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from trainers.runs.records import weights_step
from trainers.runs.signs import SignsOfLife
from trainers.runs.trajectories import TrajectoryFiles

SPLITS = ("train", "validation", "test")
"""Those that every environment has."""
VALIDATION_STREAM = 1
"""Names the random numbers of evaluations apart from those of training batches."""


@dataclass(frozen=True)
class Validation:
    """An evaluation during training: its tasks, and how they are played.

    Attributes:
        tasks: lists the task ids.
        samples: episodes per task.
        play: plays task ids at a global step; the same random numbers at every call with the same
            numbers, which name a process's share.
        on_trajectories: what is done with this process's episodes, such as writing them to a file
            of the evaluation's name and the optimizer step.
    """

    tasks: Callable[[], Sequence[str]]
    samples: int
    play: Callable[[list[str], int, Sequence[int]], list[Trajectory]]
    on_trajectories: Callable[[str, int, list[Trajectory]], None]


def validation_ids(environments: Environments, evaluation: EvaluationArguments) -> list[str]:
    """List the tasks that evaluations during training play; environments have as many each."""
    chosen = environments.args
    ids = environments.task_ids(chosen.eval_split, tasks=chosen.eval_tasks, option="eval_split")
    return environments.spread(ids, evaluation.num_eval_tasks)


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
        rollout.machinery.has_worked |= global_step > 0  # what was trained is worth waiting for
        return rollout.run(
            task_ids,
            temperature=evaluation.eval_temperature,
            global_step=global_step,
            stream=(VALIDATION_STREAM, *share),
        )

    prompts = None
    if eval_dataset is not None:
        prompts = prompts_of("eval_dataset", eval_dataset, environments)
    return Validation(
        tasks=cache(
            lambda: validation_ids(environments, evaluation) if prompts is None else prompts
        ),
        samples=evaluation.eval_samples,
        play=play,
        on_trajectories=partial(files.write, anew=True),
    )


class RolloutEvaluationMixin:
    """A mixin that makes `Trainer.evaluate` play episodes, where there is an environment.

    Attributes:
        make_validation: makes what is played; None where there is no environment.
        task_environments: the environments, None where there are none.
    """

    make_validation: Callable[[], Validation] | None = None
    task_environments: Environments | None = None

    @cached_property
    def validation(self) -> Validation | None:
        """The evaluation, made at first use; None where there is no environment."""
        return None if self.make_validation is None else self.make_validation()

    @cached_property
    def signs(self: Any) -> SignsOfLife:
        """The signs of life of this run."""
        signs = SignsOfLife()
        signs.is_shown = self.is_world_process_zero()
        return signs

    def train(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Train with signs of life, as `transformers.Trainer.train` does."""
        with self.signs.writing():
            return super().train(*args, **kwargs)  # type: ignore[misc]

    def evaluate(
        self: Any,
        eval_dataset: Any = None,
        ignore_keys: list[str] | None = None,
        metric_key_prefix: str = "eval",
    ) -> dict[str, float]:
        """Play the validation tasks, log what came out, and return it.

        It is logged under the step of the weights that played: after training those of the best
        checkpoint, where that was loaded. Tasks of another split are logged under its name.

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
        tasks, label = validation.tasks(), metric_key_prefix
        if eval_dataset is not None:
            tasks = prompts_of("eval_dataset", eval_dataset, self.task_environments)
            label = _label_of(tasks, self.task_environments, label)
        task_ids = [task_id for task_id in tasks for _ in range(validation.samples)]
        step = self.state.global_step
        if not self.is_in_train:
            step = weights_step(self.args, self.state, self.control)
        result = summarize(self._play_share(validation, task_ids, label, step))
        values = _values(result)
        values["runtime"] = max(gather_object([time.perf_counter() - start]))
        for name, of_one in result.environments.items():
            values |= {f"{key}/{name}": value for key, value in _values(of_one).items()}
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in values.items()}
        logged = {f"{label}_{name}": value for name, value in values.items()}
        self.log(logged if step == self.state.global_step else {"global_step": step, **logged})
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        if self.is_in_train and step == 0:
            self._let_start_compete(metrics)
        return metrics

    def _let_start_compete(self: Any, metrics: dict[str, float]) -> None:
        """Save the weights before training as the best so far, which a later equal replaces.

        transformers chooses among checkpoints of later steps alone.
        """
        if not self.args.load_best_model_at_end:
            return
        self._determine_best_metric(metrics, trial=None)
        state = self.state
        worse = -inf if self.args.greater_is_better else inf
        state.best_metric = nextafter(state.best_metric, worse)
        state.best_global_step = 0
        state.best_model_checkpoint = str(self._checkpoint_folder())
        self._save_checkpoint(self.model_wrapped, trial=None)
        self.control = self.callback_handler.on_save(self.args, state, self.control)

    def _play_share(
        self: Any, validation: Validation, task_ids: Sequence[str], label: str, step: int
    ) -> list[Trajectory]:
        """Play this process's share of the tasks; return all processes' episodes, without tokens.

        A share's random numbers are its own, else two processes would sample alike. Signs of life
        are given meanwhile, and a signal ends it with a checkpoint.
        """
        processes, rank = self.accelerator.num_processes, self.accelerator.process_index
        places = range(rank, len(task_ids), processes)
        stream = () if processes == 1 else (rank,)
        title = f"{'evaluation' if label == 'eval' else label} at step {step}"
        with (
            self.signs.writing(),
            self.signs.playing(title, len(places), is_evaluation=True),
            self.playing(),
        ):
            trajectories: list[Trajectory] = validation.play(
                [task_ids[place] for place in places], step, stream
            )
            name = "eval" if label == "eval" else f"eval_{label.replace('/', '_')}"
            validation.on_trajectories(name, step, trajectories)
        if processes == 1:
            return trajectories
        bare = [replace(trajectory, traces=[]) for trajectory in trajectories]
        gathered = dict(gather_object(list(zip(places, bare, strict=True))))
        return [gathered[place] for place in sorted(gathered)]


def _label_of(tasks: Sequence[str], environments: Environments, prefix: str) -> str:
    """Return what an evaluation of given tasks is logged under: its prefix, or another split.

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
