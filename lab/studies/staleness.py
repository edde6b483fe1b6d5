"""`python -m lab.studies staleness`: GRPO on TextCraft, played up to K optimizer steps ahead.

Every run trains the shipped `tiny` policy as many steps on a vLLM server of its own, with the loss
corrected for older weights and as good as not: the ratio's bounds are 0.999 and 1.001, since the
correction cannot be switched off with K > 0. Needs the interpreter of `.venv-vllm`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cli.listing import table
from lab.studies.pictures import CURVES, drawing
from lab.studies.runs import AS_TINY_LEARNT, RESULT, START, Run, play_study, study_parser
from lab.studies.table import gain_over_seeds, in_points, results_by_seed
from trainers.runs.folder import read_metrics

STEPS = 24
AVERAGED = 5  # optimizer steps of a curve's moving average
ENV = (
    *("--env", "TextCraft", "--max_turns", "14", "--max_tokens_per_turn", "96"),
    *AS_TINY_LEARNT,
)
STALENESS = (0, 1, 2, 4)
UNCORRECTED = (
    *("--vllm_importance_sampling_clip_min", "0.999"),
    *("--vllm_importance_sampling_clip_max", "1.001"),
)
CASES: dict[str, tuple[str, ...]] = {
    **{f"K = {k}": ("--max_staleness", str(k)) for k in STALENESS},
    **{
        f"K = {k}, not corrected": ("--max_staleness", str(k), *UNCORRECTED) for k in STALENESS if k
    },
}
"""Name in the table -> options."""


def run_of(name: str, seed: int, folder: Path) -> Run:
    """Return the run of one case, an entry of `CASES`, and seed."""
    own = _folder_of(name, folder) / f"seed_{seed}"
    model = own / "model"
    weights = json.dumps({"weights_dir": str((own / "weights").absolute())})
    training = (
        *(str(own / "server.log"), "train", "grpo", *ENV, "--model", "tiny", *CASES[name]),
        *("--env_backend", "thread", "--overlap", "--num_envs", "64"),
        *("--backend", "vllm_server", "--backend_kwargs", weights),
        *("--learning_rate", "4e-4", "--lr_scheduler_type", "linear", "--max_steps", str(STEPS)),
        *("--per_device_train_batch_size", "8", "--gradient_accumulation_steps", "8"),
        *("--num_generations", "8", "--eval_strategy", "no", "--save_strategy", "steps"),
        *("--save_steps", "4", "--report_to", "none", "--resume", "--disable_tqdm", "true"),
        *("--seed", str(seed), "--output_dir", str(model)),
    )
    trained = Run(own / "training", (training,), module="lab.studies.served")
    return Run(own, (measurement(str(model), own / RESULT, seed),)) if trained.is_done else trained


def measurement(model: str, out: Path, seed: int) -> tuple[str, ...]:
    """Return the command that plays the test goals."""
    return (
        *("eval", *ENV, "--split", "test", "--model", model, "--samples", "2"),
        *("--seed", str(seed), "--out", str(out), "--num_envs", "64"),
    )


def staleness_table(folder: Path) -> str:
    """Return the Markdown table of the cases.

    Raises:
        ValueError: the start has not been measured.
    """
    before = results_by_seed(folder / START)
    if not before:
        raise ValueError(f"{folder / START} holds no measurement of the start")
    rows: list[Sequence[str]] = []
    for name in CASES:
        results = results_by_seed(_folder_of(name, folder))
        if not results:
            continue
        entries = [entry for seed in results for entry in _steps_of(name, seed, folder)]
        rows.append(
            (
                name,
                f"{np.mean([result.success for result in results.values()]):.1%} ({len(results)})",
                in_points(gain_over_seeds(before, results)),
                f"{np.mean([entry.get('async/staleness', 0.0) for entry in entries]):.2f}",
                f"{np.mean([entry['step_time'] for entry in entries]):.1f} s",
            )
        )
    header = ("run", "test success (seeds)", "gain, points (95%)", "steps behind", "a step")
    return table([header, *rows])


def draw_curves(folder: Path) -> Path:
    """Draw success in training against optimizer steps and time; return the picture's path.

    Each line is a moving average of the mean over a case's seeds.
    """
    path = folder / CURVES
    with drawing(path, 2) as (by_step, by_time):
        for name in CASES:
            seeds = results_by_seed(_folder_of(name, folder))
            runs = [_steps_of(name, seed, folder) for seed in seeds]
            steps = min(map(len, runs), default=0)
            if steps < AVERAGED:
                continue
            success, seconds = (
                np.mean([[entry[metric] for entry in run[:steps]] for run in runs], axis=0)
                for metric in ("episodes/success", "step_time")
            )
            mean = np.convolve(success, np.full(AVERAGED, 1 / AVERAGED), "valid")
            colour = STALENESS.index(int(name.split(",")[0].removeprefix("K = ")))
            look = {"color": f"C{colour}", "linestyle": "--" if "," in name else "-", "label": name}
            by_step.plot(range(AVERAGED, steps + 1), mean, **look)
            by_time.plot(np.cumsum(seconds)[AVERAGED - 1 :] / 60, mean, **look)
        by_step.set(
            xlabel="optimizer steps", ylabel=f"success in training, mean of {AVERAGED} steps"
        )
        by_time.set(xlabel="minutes")
        by_step.legend(frameon=False)
    return path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or go on with it; print its table."""
    options = study_parser("staleness", __doc__, seeds=(0, 1, 2), workers=1).parse_args(argv)
    folder = Path(options.out)
    for _ in ("train", "measure"):
        runs = [run_of(name, seed, folder) for seed in options.seeds for name in CASES]
        play_study(options, folder, runs, measurement)
    text = staleness_table(folder)
    (folder / "table.md").write_text(text + "\n", encoding="utf-8")
    print(f"{text}\n\ncurves: {draw_curves(folder)}")
    return 0


def _steps_of(name: str, seed: int, folder: Path) -> list[dict[str, Any]]:
    """Return what was logged of the optimizer steps of one run."""
    entries = read_metrics(_folder_of(name, folder) / f"seed_{seed}" / "model")
    return [entry for entry in entries if "episodes/success" in entry]


def _folder_of(name: str, folder: Path) -> Path:
    return folder / name.replace(" = ", "").replace(", ", "_").replace(" ", "_")
