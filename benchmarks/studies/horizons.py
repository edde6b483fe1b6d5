"""`agentgym study horizons`: short, long, staged and adaptive turn horizons on deep goals.

Every run trains the shipped `tiny` policy by GRPO on TextCraft's training goals of depth 2 or more,
as many optimizer steps each, and is measured at the long horizon. Knows which commands to give.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.listing import table
from benchmarks.studies.runs import RESULT, START, Run, play_study, study_parser
from benchmarks.studies.table import gain_over_seeds, results_by_seed

STEPS = 18
LONG = 20
EPISODES_PER_STEP = 64
DEEP = ("--tasks", "depth 2", "depth 3", "depth 4")
ENV = ("--env", "TextCraft", *DEEP, "--max_turns", str(LONG), "--max_tokens_per_turn", "128")

SCHEDULES = {
    "fixed_short": "fixed:6",
    "fixed_long": f"fixed:{LONG}",
    "staged": f"scaling:6,12,{LONG}@{STEPS // 3}",
    "adaptive": f"adaptive:6,12,{LONG}@4",
}
"""Name in the table -> `--horizon`."""


def run_of(name: str, seed: int, folder: Path) -> Run:
    """Return the run of one schedule, an entry of `SCHEDULES`, and seed."""
    own = folder / name / f"seed_{seed}"
    model = own / "model"
    training = (
        *("train", "grpo", *ENV, "--model", "tiny", "--horizon", SCHEDULES[name]),
        *("--learning_rate", "4e-4", "--lr_scheduler_type", "linear", "--max_steps", str(STEPS)),
        *("--per_device_train_batch_size", "8", "--gradient_accumulation_steps", "8"),
        *("--num_envs", str(EPISODES_PER_STEP), "--save_trajectories_every", "9"),
        *("--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", "9"),
        *("--report_to", "none", "--resume", "--seed", str(seed), "--output_dir", str(model)),
    )
    return Run(own, (training, measurement(str(model), own / RESULT, seed)))


def measurement(model: str, out: Path, seed: int) -> tuple[str, ...]:
    """Return the command that plays the test goals at the long horizon."""
    return (
        *("eval", *ENV, "--split", "test", "--model", model, "--samples", "2"),
        *("--seed", str(seed), "--out", str(out), "--num_envs", "100"),
    )


def curves(folder: Path) -> dict[int, list[dict[str, float]]]:
    """Read one schedule's training curves.

    Returns:
        by seed, one entry per optimizer step: `step`, `tokens` sampled up to it, `success` of its
        episodes, their `horizon`, and `seconds` up to it.
    """
    found: dict[int, list[dict[str, float]]] = {}
    for path in sorted(folder.glob("seed_*/model/metrics.jsonl")):
        entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        points: list[dict[str, float]] = []
        tokens = seconds = 0.0
        for entry in entries:
            if "episodes/success" in entry:
                tokens += entry["episodes/sampled_tokens"] * EPISODES_PER_STEP
                seconds += entry.get("step_time", 0.0)
                points.append(
                    {
                        "step": entry["global_step"],
                        "tokens": tokens,
                        "seconds": seconds,
                        "success": entry["episodes/success"],
                        "horizon": entry["horizon"],
                    }
                )
        found[int(path.parent.parent.name.removeprefix("seed_"))] = points
    return found


def horizon_table(folder: Path) -> str:
    """Return the Markdown table: success at the long horizon, tokens and time by schedule.

    Raises:
        ValueError: the start has not been measured.
    """
    before = results_by_seed(folder / START)
    if not before:
        raise ValueError(f"{folder / START} holds no measurement of the start")
    start = [f"{np.mean([r.success for r in before.values()]):.1%}", "", "", "", ""]
    rows: list[Sequence[str]] = [("(the start)", *start)]
    for name in SCHEDULES:
        after = results_by_seed(folder / name)
        if not after:
            continue
        gain, (low, high) = gain_over_seeds(before, after)
        last = [points[-1] for points in curves(folder / name).values() if points]
        successes = [result.success for result in after.values()]
        rows.append(
            (
                name.replace("_", " "),
                f"{np.mean(successes):.1%} ({min(successes):.1%} to {max(successes):.1%})",
                f"{100 * gain:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})",
                f"{_mean_of(last, 'tokens') / 1e3:.0f}k",
                f"{_mean_of(last, 'seconds'):.0f} s",
                f"{_mean_of(last, 'horizon'):.0f}",
            )
        )
    header = (
        "horizon",
        f"success at {LONG} turns (seeds)",
        "gain, points (95%)",
        "sampled tokens",
        "training time",
        "last horizon",
    )
    return table([header, *rows])


def draw_curves(folder: Path) -> Path:
    """Draw success of the training episodes against sampled tokens; return the picture's path."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for name in SCHEDULES:
        runs = [points for points in curves(folder / name).values() if points]
        if not runs:
            continue
        length = min(len(points) for points in runs)
        tokens = np.mean([[p["tokens"] for p in points[:length]] for points in runs], axis=0)
        success = np.mean([[p["success"] for p in points[:length]] for points in runs], axis=0)
        width = min(5, length)
        smooth = np.convolve(success, np.ones(width) / width, mode="valid")
        axes.plot(tokens[width - 1 :] / 1e3, smooth, label=name.replace("_", " "))
    axes.set(xlabel="sampled tokens, thousands", ylabel="success of training episodes", ylim=(0, 1))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    path = folder / "curves.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or go on with it; print its table and draw its curves."""
    options = study_parser("horizons", __doc__, seeds=(0, 1, 2, 3)).parse_args(argv)
    folder = Path(options.out)
    runs = [run_of(name, seed, folder) for seed in options.seeds for name in SCHEDULES]
    play_study(options, folder, runs, measurement)
    text = horizon_table(folder)
    (folder / "table.md").write_text(text + "\n", encoding="utf-8")
    print(f"{text}\n\ncurves: {draw_curves(folder)}")
    return 0


def _mean_of(points: Sequence[dict[str, Any]], key: str) -> float:
    return float(np.mean([point[key] for point in points])) if points else float("nan")
