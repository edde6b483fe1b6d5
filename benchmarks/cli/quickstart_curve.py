"""Draws the quickstart's learning curve from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.content.files import replacing
from trainers.runs.curve import (
    HELD_OUT,
    draw_success,
    frame,
    legend_below,
    series,
    shade_horizons,
)
from trainers.runs.folder import CURVE_FILE, SUMMARY_FILE, read_json, read_metrics


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
    summary = read_json(folder / SUMMARY_FILE)
    entries = read_metrics(folder)
    steps, success = series(entries, "episodes/success")
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    last = max([1, *steps.tolist()])
    if len(steps):
        shade_horizons(axes, *series(entries, "horizon"))
        draw_success(axes, steps, success)
    _draw_measurements(axes, summary, last)
    algorithm, seed = summary["algorithm"].upper(), summary["seed"]
    frame(axes, last, title=f"{summary['env_id']}: tiny policy, {algorithm}, seed {seed}")
    legend_below(axes, *axes.get_legend_handles_labels())
    path = folder / CURVE_FILE
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=130, format="png")
    plt.close(figure)
    return path


def _draw_measurements(axes: Any, summary: dict[str, Any], last: int) -> None:
    """Mark success on the test goals before the first and after the last step.

    The numbers stand in the legend: beside the points they would lie over the curve.
    """
    before, after = (summary[f"success_{name}"] for name in ("before", "after"))
    label = f"held-out test goals: {before:.1%} before, {after:.1%} after, 95% intervals"
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
            label=label if name == "before" else None,
        )
