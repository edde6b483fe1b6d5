"""Draws a run's learning curve from its folder. Knows its metrics and `run.json`; no models.

Matplotlib is imported where something is drawn.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

SMOOTHING = 9
"""Log entries of the moving average."""
TRAINING, AVERAGE, HELD_OUT = "#9db7d5", "#1f4e8c", "#b3541e"

Array = np.ndarray[Any, Any]

RENAMED_METRICS = {
    "groups/without_signal": "frac_reward_zero_std",
    "sampling/logprob_gap_mean": "sampling/sampling_logp_difference/mean",
    "sampling/logprob_gap_max": "sampling/sampling_logp_difference/max",
}
"""Today's names of metrics that runs logged under others before."""


def read_metrics(folder: str | Path) -> list[dict[str, Any]]:
    """Return the log entries of a run, in order, under today's names.

    A last line that a killed run left unfinished is passed over.
    """
    path = Path(folder) / "metrics.jsonl"
    if not path.exists():
        return []
    entries = [json.loads(line) for line in whole_lines(path.read_text(encoding="utf-8"))]
    for entry in entries:
        for old, name in RENAMED_METRICS.items():
            if old in entry:
                entry[name] = entry.pop(old)
    return entries


def whole_lines(text: str) -> list[str]:
    """Return the lines of a JSONL text that were written to their end."""
    return [line[:-1] for line in text.splitlines(keepends=True) if line.endswith("}\n")]


def series(entries: list[dict[str, Any]], name: str) -> tuple[Array, Array]:
    """Return the optimizer steps (N,) at which a metric was logged, and its values (N,)."""
    found = [(e["global_step"], e[name]) for e in entries if isinstance(e.get(name), int | float)]
    steps, values = zip(*found, strict=True) if found else ((), ())
    return np.array(steps), np.array(values, dtype=float)


def draw_run_curve(folder: str | Path) -> Path | None:
    """Draw success over optimizer steps, with the horizon's stages and the validations.

    Where no episodes are played in training, as in imitation, the loss stands beside the
    validations.

    Args:
        folder: a run's.

    Returns:
        the picture's path, `learning_curve.png` in the folder; None where nothing is logged yet.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    folder = Path(folder)
    entries = read_metrics(folder)
    steps, success = series(entries, "episodes/success")
    loss_steps, loss = series(entries, "loss")
    validations = series(entries, "eval_success")[0]
    if not (len(steps) or len(loss_steps) or len(validations)):
        return None
    # Not pyplot: its state belongs to whoever uses the trainer in a notebook.
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    last = max(int(found.max()) for found in (steps, loss_steps, validations) if len(found))
    if len(steps):
        shade_horizons(axes, *series(entries, "horizon"))
        draw_success(axes, steps, success)
    _draw_validations(axes, entries)
    axes.set(xlabel="optimizer step", ylabel="success rate", ylim=(0, 1))
    axes.set_xlim(-max(last, 1) * 0.02, max(last, 1) * 1.02)
    axes.set_title(_title(folder))
    axes.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    if not len(steps) and len(loss_steps):
        handles += _draw_loss(axes, loss_steps, loss)
        labels.append("training loss (right)")
    if handles:
        axes.legend(handles, labels, loc="lower right", frameon=False)
    path = folder / "learning_curve.png"
    unfinished = path.with_suffix(".tmp")
    figure.savefig(unfinished, dpi=130, format="png")
    return unfinished.replace(path)


def draw_success(axes: Any, steps: Array, success: Array) -> None:
    """Draw the success of training episodes and its moving average."""
    axes.plot(steps, success, color=TRAINING, linewidth=1, label="training episodes, per step")
    width = min(SMOOTHING, len(success))
    padded = np.pad(success, (width // 2, width - 1 - width // 2), mode="edge")
    smooth = np.convolve(padded, np.ones(width) / width, mode="valid")
    axes.plot(steps, smooth, color=AVERAGE, linewidth=2, label="moving average")


def shade_horizons(axes: Any, steps: Array, horizons: Array) -> None:
    """Shade the stages of the horizon and write its turns above them."""
    starts = [i for i in range(len(horizons)) if i == 0 or horizons[i] != horizons[i - 1]]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(steps) - 1
        left, right = steps[start] - 1, steps[end] - (number + 1 < len(starts))
        axes.axvspan(left, right, color=AVERAGE, alpha=0.04 + 0.05 * (number % 2), linewidth=0)
        axes.text(
            (left + right) / 2,
            0.97,
            f"horizon {horizons[start]:.0f}",
            ha="center",
            va="top",
            fontsize=9,
            color="#51637a",
        )


def _draw_validations(axes: Any, entries: list[dict[str, Any]]) -> None:
    steps, success = series(entries, "eval_success")
    low, high = (series(entries, f"eval_success_{end}")[1] for end in ("low", "high"))
    if not len(steps):
        return
    errors = np.stack([success - low, high - success]) if len(low) == len(success) else None
    axes.errorbar(
        steps,
        success,
        yerr=None if errors is None else errors.clip(min=0),
        fmt="o",
        markersize=5,
        color=HELD_OUT,
        capsize=3,
        zorder=5,
        label="validation tasks, 95% interval",
    )


def _draw_loss(axes: Any, steps: Array, loss: Array) -> list[Any]:
    right = axes.twinx()
    right.set_ylabel("loss")
    right.spines["top"].set_visible(False)
    return list(right.plot(steps, loss, color=TRAINING, linewidth=1))


def _title(folder: Path) -> str:
    path = folder / "run.json"
    run = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    played = ", ".join(run.get("EnvArguments", {}).get("env", []))
    told = [played or folder.name, run.get("command", "")]
    if "seed" in run:
        told.append(f"seed {run['seed']}")
    return ", ".join(part for part in told if part)
