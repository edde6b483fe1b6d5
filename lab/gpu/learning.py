"""SmolLM2 on TextCraft by the public commands: expert episodes, SFT, GRPO and test."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.gpu.parts import Reading, Setting
from lab.gpu.steps import learner
from lab.studies.runs import Run, run_all
from trainers.evaluation.results import EvalResult
from trainers.runs.folder import CURVE_FILE, read_metrics

CURVE_TABLE = "learning_curve.csv"
_COLUMNS = ("global_step", "episodes/success", "reward", "eval_success", "loss", "rollout_time")
_NAMES = {"start": "as it is", "after_sft": "after SFT", "after_grpo": "after GRPO"}
_QUIET = ("--report_to", "none", "--resume")


@dataclass(frozen=True)
class Plan:
    """The scenario, the episodes and the options of a training.

    Attributes:
        env: options of how the scenario is played. Actions alone, without thoughts, keep turns
            short: a GPU that samples for few rows waits for itself, so time goes by tokens a turn.
        episodes: of the expert.
        sft: options of the imitation.
        grpo: options of what follows.
        tasks: of the test, None for all.
    """

    env: tuple[str, ...]
    episodes: int
    sft: tuple[str, ...]
    grpo: tuple[str, ...]
    tasks: int | None = None


FULL = Plan(
    env=(
        *("--env", "TextCraft", "--action_format", "plain"),
        *("--max_turns", "12", "--max_tokens_per_turn", "32"),
    ),
    episodes=374,
    sft=(
        *("--num_train_epochs", "3", "--learning_rate", "2e-4", "--lr_scheduler_type", "cosine"),
        *("--per_device_train_batch_size", "16", "--gradient_accumulation_steps", "1"),
        *("--gradient_checkpointing", "false", "--eval_strategy", "no"),
    ),
    grpo=(
        *("--max_steps", "40", "--learning_rate", "4e-5", "--horizon", "scaling:4,8,12@13"),
        *("--num_generations", "8", "--per_device_train_batch_size", "16"),
        *("--gradient_accumulation_steps", "16", "--gradient_checkpointing", "false"),
        *("--eval_steps", "20", "--num_eval_tasks", "60", "--save_total_limit", "1"),
    ),
)
SMALL = Plan(
    env=(
        *("--env", "TextCraft", "--action_format", "plain", "--tasks", "1"),
        *("--max_turns", "8", "--max_tokens_per_turn", "8"),
    ),
    episodes=2,
    sft=("--max_steps", "1", "--per_device_train_batch_size", "2", "--eval_strategy", "no"),
    grpo=(
        *("--max_steps", "1", "--learning_rate", "1e-6", "--horizon", "scaling:1,2@1"),
        *("--num_generations", "2", "--per_device_train_batch_size", "2"),
        *("--gradient_accumulation_steps", "1"),
        *("--eval_steps", "1", "--num_eval_tasks", "1"),
    ),
    tasks=1,
)


def learning(setting: Setting, _part: str) -> Iterator[Reading]:
    """Yield success on the test tasks before, between and after.

    The learning curve goes into the folder.

    A second call goes on where the first was ended, within a training run too.
    """
    model = learner()
    plan = SMALL if setting.small else FULL
    for stage in stages(plan, model, setting.folder):
        try:
            run_all([stage], workers=1, threads=4)
        finally:
            keep_curve(setting.folder / "grpo", setting.folder.parents[1])
        result = stage.folder / "result.json"
        if result.is_file():
            yield _reading(stage.folder.name, model, EvalResult.load(result))


def stages(plan: Plan, model: str, folder: Path) -> list[Run]:
    """Return the commands in their order, each a run of its own.

    Args:
        plan: how much.
        model: what training begins with.
        folder: what they write into.
    """
    data, sft, grpo = folder / "expert.jsonl", folder / "sft", folder / "grpo"
    collect = (
        *("collect", *plan.env, "--policy", "expert", "--num_episodes", str(plan.episodes)),
        *("--out", str(data)),
    )
    train_sft = (
        *("train", "sft", *plan.env, "--model", model, "--data", str(data)),
        *("--output_dir", str(sft), *_QUIET, *plan.sft),
    )
    train_grpo = (
        *("train", "grpo", *plan.env, "--model", str(sft), "--output_dir", str(grpo)),
        *(*_QUIET, *plan.grpo),
    )
    runs = (
        ("collected", collect),
        ("start", _test(plan, model, folder / "start")),
        ("imitating", train_sft),
        ("after_sft", _test(plan, str(sft), folder / "after_sft")),
        ("reinforcing", train_grpo),
        ("after_grpo", _test(plan, str(grpo), folder / "after_grpo")),
    )
    return [Run(folder / name, (("agentgym", *command),)) for name, command in runs]


def _test(plan: Plan, model: str, folder: Path) -> tuple[str, ...]:
    few = () if plan.tasks is None else ("--num_tasks", str(plan.tasks))
    return (
        *("eval", *plan.env, *few, "--split", "test", "--model", model),
        *("--samples", "2", "--num_envs", "200"),
        *("--out", str(folder / "result.json")),
    )


def _reading(name: str, model: str, result: EvalResult) -> Reading:
    low, high = result.ci95
    values: dict[str, Any] = {
        "test success": f"{result.success:.1%}",
        "95% interval": f"{low:.1%} to {high:.1%}",
        "tasks": result.n_tasks,
        "samples": result.samples_per_task,
        "invalid actions": f"{result.invalid_rate:.1%}",
        "seconds": round(result.wall_s, 1),
    }
    return Reading(f"{model}, {_NAMES[name]}", values)


def keep_curve(run: Path, folder: Path) -> None:
    """Copy a run's learning curve, and write its numbers as a table beside it.

    Args:
        run: the training run; one that has not begun leaves nothing.
        folder: where they go.
    """
    if (run / CURVE_FILE).is_file():
        shutil.copyfile(run / CURVE_FILE, folder / CURVE_FILE)
    entries = read_metrics(run)
    if not entries:
        return
    with (folder / CURVE_TABLE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(entries)
