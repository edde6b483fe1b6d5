"""Draws a run's learning curve from its folder.

Matplotlib is imported where something is drawn.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from agentgym_envs.content.files import atomic_write
from agentgym_envs.registration.registry import distinct_names
from trainers.runs.folder import CURVE_FILE, read_metrics, read_run
from trainers.runs.success import FRESH

SMOOTHING = 9
"""Log entries of the moving average."""
TRAINING, AVERAGE, HELD_OUT = "#9db7d5", "#1f4e8c", "#b3541e"
MOST_NAMED = 7
"""Stages of the horizon from which on only the first one's name is whole."""
_FRESH_LABEL = "the kept weights in fresh episodes"
_LETTER = 0.075
"""Inches of a letter above the axes."""
ENVIRONMENT_COLORS = ("#3a8f5c", "#8a5bb0", "#c29a1b", "#4aa3b5", "#c2527a", "#7a7a7a")
"""The colors of several environments."""

Array = np.ndarray[Any, Any]
_LEGEND_WIDTH = 90
"""Characters of a legend that stand in one line."""


def series(entries: list[dict[str, Any]], name: str) -> tuple[Array, Array]:
    """Return the optimizer steps (N,) at which a metric was logged, and its values (N,)."""
    points = [(e["global_step"], e[name]) for e in entries if isinstance(e.get(name), int | float)]
    steps, values = zip(*points, strict=True) if points else ((), ())
    return np.array(steps), np.array(values, dtype=float)


def draw_run_curve(folder: str | Path) -> Path | None:
    """Draw success over optimizer steps, with the horizon's stages and the validations.

    Where no episodes are played in training, as in imitation, the loss stands beside the
    validations.

    Returns:
        the picture's path, `learning_curve.png` in the run's folder; None where nothing is logged.
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
    last = max(int(of.max()) for of in (steps, loss_steps, validations) if len(of))
    if len(steps):
        if not _differ(entries, "horizon/"):
            shade_horizons(axes, *series(entries, "horizon"))
        draw_success(axes, steps, success)
    environments = _draw_environments(axes, entries)
    _draw_validations(axes, entries)
    _draw_validations(axes, entries, FRESH, color=AVERAGE, marker="D", label=_FRESH_LABEL)
    frame(axes, last, title=_title(folder))
    handles, labels = axes.get_legend_handles_labels()
    if not len(steps) and len(loss_steps):
        handles += _draw_loss(axes, loss_steps, loss)
        labels.append("training loss (right)")
    if environments:  # as many lines as leave no room within the axes
        title = "blue, orange: mean over environments"
        axes.legend(
            handles, labels, title=title, loc="upper left", bbox_to_anchor=(1.1, 1.0), frameon=False
        )
    elif handles:
        legend_below(axes, handles, labels)
    path = folder / CURVE_FILE
    with atomic_write(path) as unfinished:
        figure.savefig(unfinished, dpi=130, format="png")
    return path


def frame(axes: Any, last: int, *, title: str) -> None:
    """Draw the axes of success over `last` optimizer steps, with room for the horizons above."""
    axes.set(xlabel="optimizer step", ylabel="success rate", ylim=(0, 1))
    axes.set_xlim(-max(last, 1) * 0.02, max(last, 1) * 1.02)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_title(title, pad=20)
    axes.spines[["top", "right"]].set_visible(False)


def legend_below(axes: Any, handles: list[Any], labels: list[str]) -> None:
    """Draw the legend below the axes, where it hides nothing."""
    columns = 3 if sum(map(len, labels)) <= _LEGEND_WIDTH else 2
    axes.figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize="small", frameon=False
    )


def draw_success(axes: Any, steps: Array, success: Array) -> None:
    """Draw the success of training episodes and its moving average."""
    axes.plot(steps, success, color=TRAINING, linewidth=1, label="training episodes, per step")
    axes.plot(steps, smoothed(success), color=AVERAGE, linewidth=2, label="moving average")


def _draw_environments(axes: Any, entries: list[dict[str, Any]]) -> list[str]:
    """Draw the success in each of several environments, whose mean the other lines are.

    Returns:
        The environments; none where there is one alone.
    """
    names = {
        key.partition("/")[2]
        for entry in entries
        for key in entry
        if key.startswith(("success/", "eval_success/"))
    }
    for name, color in zip(sorted(names), cycle(ENVIRONMENT_COLORS), strict=False):
        steps, success = series(entries, f"success/{name}")
        if len(steps):
            axes.plot(steps, smoothed(success), color=color, linewidth=1.2, label=name)
        validations = series(entries, f"eval_success/{name}")
        label = None if len(steps) else name
        axes.plot(*validations, "o", color=color, markersize=3, label=label)
    return sorted(names)


def smoothed(values: Array) -> Array:
    """Return the moving average of values (N,), N at least 1."""
    width = min(SMOOTHING, len(values))
    padded = np.pad(values, (width // 2, width - 1 - width // 2), mode="edge")
    return np.convolve(padded, np.ones(width) / width, mode="valid")


def _differ(entries: list[dict[str, Any]], prefix: str) -> bool:
    """Return whether metrics whose names begin alike ever differ from one another."""
    return any(len({v for k, v in entry.items() if k.startswith(prefix)}) > 1 for entry in entries)


def shade_horizons(axes: Any, steps: Array, horizons: Array) -> None:
    """Shade the stages of the horizon and write its turns above the axes, where there is room."""
    if not len(steps):
        return
    width = axes.get_position().width * axes.figure.get_figwidth()
    per_letter = _LETTER * (steps[-1] + 1 - steps[0]) / width
    starts = [i for i in range(len(horizons)) if i == 0 or horizons[i] != horizons[i - 1]]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(steps) - 1
        left, right = steps[start] - 1, steps[end] - (number + 1 < len(starts))
        axes.axvspan(left, right, color=AVERAGE, alpha=0.04 + 0.05 * (number % 2), linewidth=0)
        turns = f"{horizons[start]:.0f}"
        names = (f"horizon {turns}", turns) if number == 0 or len(starts) < MOST_NAMED else (turns,)
        if number == 0 and len(names[0]) * per_letter > right - left:
            axes.text(0, 1.02, "horizon ", ha="right", va="bottom", fontsize=9, color="#51637a",
                      transform=axes.transAxes)  # fmt: skip
        fitting = [name for name in names if (len(name) + 1) * per_letter <= right - left]
        axes.text(
            (left + right) / 2,
            1.02,  # of the axes' height
            next(iter(fitting), turns if number == 0 else ""),
            ha="center",
            va="bottom",
            fontsize=9,
            color="#51637a",
            transform=axes.get_xaxis_transform(),
        )


def _draw_validations(
    axes: Any,
    entries: list[dict[str, Any]],
    prefix: str = "eval",
    *,
    color: str = HELD_OUT,
    marker: str = "o",
    label: str = "evaluation tasks, 95% interval",
) -> None:
    steps, success = series(entries, f"{prefix}_success")
    low, high = (series(entries, f"{prefix}_success_{end}")[1] for end in ("low", "high"))
    if not len(steps):
        return
    errors = np.stack([success - low, high - success]) if len(low) == len(success) else None
    axes.errorbar(
        steps,
        success,
        yerr=None if errors is None else errors.clip(min=0),
        fmt=marker,
        markersize=5,
        color=color,
        capsize=3,
        zorder=5,
        label=label,
    )


def _draw_loss(axes: Any, steps: Array, loss: Array) -> list[Any]:
    right = axes.twinx()
    right.set_ylabel("loss")
    right.spines["top"].set_visible(False)
    return list(right.plot(steps, loss, color=TRAINING, linewidth=1))


def _title(folder: Path) -> str:
    run = read_run(folder)
    ids = run.get("EnvArguments", {}).get("env", [])
    environments = ", ".join(distinct_names(ids).values() if len(ids) > 1 else ids)
    parts = [environments or folder.name, run.get("command", "")]
    if "seed" in run:
        parts.append(f"seed {run['seed']}")
    return ", ".join(filter(None, parts))
