"""`python -m lab.studies horizons`: short, long, staged and adaptive turn horizons where they bind.

On each ground every run trains the same start by GRPO on training tasks, as many optimizer steps
each. Its checkpoints play the held-out tasks at the long horizon, so that the schedules can be
compared at equal sampled tokens too. `lab.studies.grounds` says where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.cli.listing import table
from lab.studies import grounds
from lab.studies.grounds import GROUNDS, play_ground
from lab.studies.pictures import CURVES, drawing
from lab.studies.runs import RESULT, START, Run, study_parser
from lab.studies.table import gain_over_seeds, in_points, results_by_seed
from trainers.evaluation.results import EvalResult
from trainers.runs.checkpoints import CHECKPOINT
from trainers.runs.folder import read_metrics

STEPS = 18
SAVE_EVERY = 6  # optimizer steps between the checkpoints that are measured
EPISODES_PER_STEP = 64
PLACES = tuple(name for name, ground in GROUNDS.items() if ground.horizons)
SCHEDULES = ("fixed_short", "fixed_long", "staged", "adaptive")
REFERENCE = "fixed_long"


def schedule(ground: str, name: str) -> str:
    """Return the `--horizon` of an entry of `SCHEDULES`."""
    short, middle, long = GROUNDS[ground].horizons
    return {
        "fixed_short": f"fixed:{short}",
        "fixed_long": f"fixed:{long}",
        "staged": f"scaling:{short},{middle},{long}@{STEPS // 3}",
        "adaptive": f"adaptive:{short},{middle},{long}@4",
    }[name]


def run_of(ground: str, name: str, seed: int, folder: Path) -> Run:
    """Return the run of one schedule and seed.

    Args:
        ground: an entry of `PLACES`.
        name: an entry of `SCHEDULES`.
        seed: of the training and of the measurements.
        folder: the study's on this ground.
    """
    own = folder / name / f"seed_{seed}"
    model = own / "model"
    training = (
        *("train", "grpo", *GROUNDS[ground].training(folder)),
        *("--max_turns", str(GROUNDS[ground].horizons[-1]), "--horizon", schedule(ground, name)),
        *("--lr_scheduler_type", "linear", "--max_steps", str(STEPS)),
        *("--per_device_train_batch_size", "8", "--gradient_accumulation_steps", "8"),
        *("--num_envs", str(EPISODES_PER_STEP), "--save_trajectories_every", "6"),
        *("--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", str(SAVE_EVERY)),
        *("--save_total_limit", str(STEPS)),  # those measured, and those of interruptions
        *("--report_to", "none", "--resume", "--seed", str(seed), "--output_dir", str(model)),
    )
    between = tuple(
        measurement(ground, str(model / f"{CHECKPOINT}{step}"), own / _result_at(step), seed)
        for step in range(SAVE_EVERY, STEPS, SAVE_EVERY)
    )
    return Run(own, (training, *between, measurement(ground, str(model), own / RESULT, seed)))


def measurement(ground: str, model: str, out: Path, seed: int) -> tuple[str, ...]:
    """Return the command that plays the held-out tasks at the long horizon."""
    return grounds.measurement(ground, model, out, seed, max_turns=GROUNDS[ground].horizons[-1])


@dataclass(frozen=True)
class Point:
    """A checkpoint of a run, measured.

    Attributes:
        step: optimizer steps behind it.
        tokens: tokens sampled up to it.
        seconds: time trained up to it.
        horizon: turns of the last episodes that it was trained on.
        success: on the held-out tasks, at the long horizon.
    """

    step: int
    tokens: float
    seconds: float
    horizon: float
    success: float


def points_of(folder: Path, start: Mapping[int, EvalResult]) -> dict[int, list[Point]]:
    """Return the measured checkpoints of one schedule by seed, the start first.

    Args:
        folder: the schedule's.
        start: the start's results by seed.
    """
    points_by_seed: dict[int, list[Point]] = {}
    for seed, last in results_by_seed(folder).items():
        if seed not in start:
            continue
        own = folder / f"seed_{seed}"
        points = [Point(0, 0.0, 0.0, 0.0, start[seed].success)]
        tokens = seconds = 0.0
        for entry in read_metrics(own / "model"):
            if "episodes/success" not in entry:
                continue
            step = entry["global_step"]
            tokens += entry["episodes/sampled_tokens"] * EPISODES_PER_STEP
            seconds += entry.get("step_time", 0.0)
            measured = own / _result_at(step)
            if step == STEPS or measured.exists():
                result = last if step == STEPS else EvalResult.load(measured)
                points.append(Point(step, tokens, seconds, entry["horizon"], result.success))
        points_by_seed[seed] = points
    return points_by_seed


def horizon_table(folder: Path) -> str:
    """Return the Markdown table of the schedules, at equal steps and at equal sampled tokens.

    Equal tokens are those of the schedule that samples the fewest; success there is read between
    the checkpoints on either side, linearly.

    Raises:
        ValueError: the start has not been measured.
    """
    before, schedules = _read(folder)
    start = [f"{np.mean([r.success for r in before.values()]):.1%}", "", "", "", "", ""]
    rows: list[Sequence[str]] = [("(the start)", *start)]
    budget = min((_mean(runs, "tokens") for runs in schedules.values()), default=0.0)
    for name, runs in schedules.items():
        successes = [points[-1].success for points in runs.values()]
        equal = [_success_at(points, budget) for points in runs.values()]
        rows.append(
            (
                name.replace("_", " "),
                f"{np.mean(successes):.1%} ({min(successes):.1%} to {max(successes):.1%})",
                in_points(gain_over_seeds(before, results_by_seed(folder / name))),
                f"{np.mean(equal):.1%}",
                f"{_mean(runs, 'tokens') / 1e3:.0f}k",
                f"{_mean(runs, 'seconds'):.0f} s",
                f"{_mean(runs, 'horizon'):.0f}",
            )
        )
    header = (
        "horizon",
        "success (seeds)",
        "gain, points (95%)",
        f"at {budget / 1e3:.0f}k tokens",
        "sampled tokens",
        "training time",
        "last horizon",
    )
    return table([header, *rows])


def subtask_table(folder: Path) -> str:
    """Return the Markdown table of success by subtask, and against the fixed long horizon.

    The difference is paired by task as `gain_over_seeds` is, over the seeds that both have.

    Raises:
        ValueError: the start has not been measured.
    """
    before, schedules = _read(folder)
    measured = {name: results_by_seed(folder / name) for name in schedules}
    subtasks = next(iter(before.values())).subtasks
    header = (
        "horizon",
        *(f"{name} ({result.n_tasks} tasks)" for name, result in subtasks.items()),
        "turns of an episode",
        "against fixed long, points (95%)",
    )
    rows: list[Sequence[str]] = [header]
    for name, results in {"(the start)": before, **measured}.items():
        success = [
            np.mean([r.subtasks[subtask].success for r in results.values()]) for subtask in subtasks
        ]
        turns = np.mean([result.mean_turns for result in results.values()])
        against = ""
        if name in measured and name != REFERENCE and REFERENCE in measured:
            against = in_points(gain_over_seeds(measured[REFERENCE], results))
        label = name.replace("_", " ")
        rows.append((label, *(f"{value:.1%}" for value in success), f"{turns:.1f}", against))
    return table(rows)


def draw_curves(folder: Path) -> Path:
    """Draw success at the long horizon against sampled tokens; return the picture's path.

    Raises:
        ValueError: the start has not been measured.
    """
    path = folder / CURVES
    with drawing(path, width=8) as (axes,):
        for colour, (name, runs) in enumerate(_read(folder)[1].items()):
            for points in runs.values():
                tokens = [point.tokens / 1e3 for point in points]
                success = [point.success for point in points]
                axes.plot(tokens, success, color=f"C{colour}", alpha=0.25, linewidth=1)
            steps = list(zip(*runs.values(), strict=True))
            axes.plot(
                [np.mean([point.tokens for point in step]) / 1e3 for step in steps],
                [np.mean([point.success for point in step]) for step in steps],
                color=f"C{colour}",
                marker="o",
                label=name.replace("_", " "),
            )
        axes.set(xlabel="sampled tokens, thousands", ylabel="success at the long horizon")
        axes.legend(frameon=False)
    return path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or go on with it; print its tables and what is left, and draw its curves."""
    parser = study_parser("horizons", __doc__, seeds=(0, 1, 2, 3))
    parser.add_argument("--env", nargs="+", choices=PLACES, default=list(PLACES))
    options = parser.parse_args(argv)
    for ground in options.env:
        folder = play_ground(options, ground, SCHEDULES, run_of, measurement)
        if not results_by_seed(folder / START):
            continue
        text = f"{horizon_table(folder)}\n\n{subtask_table(folder)}"
        (folder / "table.md").write_text(text + "\n", encoding="utf-8")
        print(f"{text}\n\ncurves: {draw_curves(folder)}\n")
    return 0


def _result_at(step: int) -> str:
    return f"after_{step}.json"


def _read(folder: Path) -> tuple[dict[int, EvalResult], dict[str, dict[int, list[Point]]]]:
    """Return the start's results, and the runs of every schedule that has some."""
    before = results_by_seed(folder / START)
    if not before:
        raise ValueError(f"{folder / START} holds no measurement of the start")
    schedules = {name: points_of(folder / name, before) for name in SCHEDULES}
    return before, {name: runs for name, runs in schedules.items() if runs}


def _mean(runs: Mapping[int, Sequence[Point]], what: str) -> float:
    """Return the mean over seeds of an attribute of the last checkpoint."""
    return float(np.mean([getattr(points[-1], what) for points in runs.values()]))


def _success_at(points: Sequence[Point], tokens: float) -> float:
    known = [point.tokens for point in points]
    return float(np.interp(tokens, known, [point.success for point in points]))
