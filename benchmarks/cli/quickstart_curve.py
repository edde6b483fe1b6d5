"""Draws the quickstart's learning curve from its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainers.runs.curve import HELD_OUT, draw_success, read_metrics, series, shade_horizons


def draw_quickstart_curve(folder: str | Path) -> Path:
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
    steps, success = series(entries, "episodes/success")
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    last = max([1, *steps.tolist()])
    if len(steps):
        shade_horizons(axes, *series(entries, "horizon"))
        draw_success(axes, steps, success)
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
            color=HELD_OUT,
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
            color=HELD_OUT,
            weight="bold",
        )
