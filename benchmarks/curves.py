"""Draws learning curves from a run's folder. Knows its metrics and its summary, no models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

SMOOTHING = 9  # steps of the moving average


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the logged entries of a run that tell the episodes' success, in order."""
    path = folder / "metrics.jsonl"
    if not path.exists():
        return []
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [entry for entry in entries if "episodes/success" in entry]


def draw_learning_curve(folder: str | Path) -> Path:
    """Draw success over training with the horizon's stages, and the measurements at both ends.

    Args:
        folder: a run of `agentgym quickstart`.

    Returns:
        the picture's path, `learning_curve.png` in the folder.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder = Path(folder)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    entries = read_metrics(folder)
    steps = np.array([entry["global_step"] for entry in entries])
    success = np.array([entry["episodes/success"] for entry in entries])
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    last = max([1, *steps.tolist()])
    if len(steps):
        _draw_horizons(axes, steps, [entry.get("horizon") for entry in entries])
        axes.plot(steps, success, color="#9db7d5", linewidth=1, label="training episodes, per step")
        width = min(SMOOTHING, len(success))
        padded = np.pad(success, (width // 2, width - 1 - width // 2), mode="edge")
        smooth = np.convolve(padded, np.ones(width) / width, mode="valid")
        axes.plot(steps, smooth, color="#1f4e8c", linewidth=2, label="moving average")
    _draw_measurements(axes, summary, last)
    axes.set(
        xlabel="optimizer step",
        ylabel="success rate",
        ylim=(0, 1),
        xlim=(-last * 0.02, last * 1.02),
    )
    axes.set_title(
        f"{summary['env_id']}: tiny policy, {summary['algorithm'].upper()}, seed {summary['seed']}"
    )
    axes.legend(loc="lower right", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    path = folder / "learning_curve.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def _draw_horizons(axes: Any, steps: np.ndarray[Any, Any], horizons: list[float | None]) -> None:
    """Shade the stages of the horizon and write its turns above them."""
    starts = [i for i in range(len(horizons)) if i == 0 or horizons[i] != horizons[i - 1]]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(steps) - 1
        if horizons[start] is None:
            continue
        left, right = steps[start] - 1, steps[end] - (number + 1 < len(starts))
        axes.axvspan(left, right, color="#1f4e8c", alpha=0.04 + 0.05 * (number % 2), linewidth=0)
        axes.text(
            (left + right) / 2,
            0.97,
            f"horizon {horizons[start]:.0f}",
            ha="center",
            va="top",
            fontsize=9,
            color="#51637a",
        )


def _draw_measurements(axes: Any, summary: dict[str, Any], last: int) -> None:
    """Mark success on the test goals before the first and after the last step."""
    for step, name in ((0, "before"), (last, "after")):
        low, high = summary[f"ci95_{name}"]
        middle = summary[f"success_{name}"]
        axes.errorbar(
            step,
            middle,
            yerr=[[middle - low], [high - middle]],
            fmt="o",
            color="#b3541e",
            capsize=4,
            zorder=5,
            label="held-out test goals, 95% interval" if name == "before" else None,
        )
        axes.annotate(
            f"{middle:.0%}",
            (step, middle),
            xytext=(8 if step == 0 else -8, 8),
            textcoords="offset points",
            ha="left" if step == 0 else "right",
            color="#b3541e",
            weight="bold",
        )
