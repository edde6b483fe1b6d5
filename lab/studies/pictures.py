"""Pictures of studies: success while the runs went on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lab.studies.results import Results, results_by_seed
from trainers.runs.curve import series, shade_horizons, smoothed
from trainers.runs.folder import read_metrics

CURVES = "curves.png"
"""A study's picture, in its folder."""
AVERAGED = 5  # optimizer steps of a curve's moving average


@contextmanager
def drawing(path: Path, panels: int = 1, *, width: float = 5.0) -> Iterator[list[Any]]:
    """Yield panels side by side, on one scale from 0 upwards. Then write the picture.

    Matplotlib is imported here: printing tables does not need it.

    Args:
        path: of the picture.
        panels: how many axes.
        width: inches of each.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * panels, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(1, panels, sharey=True, squeeze=False)[0])
    yield axes
    axes[0].set_ylim(bottom=0)
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)


def _with_trained(grounds: Sequence[Results]) -> list[Results]:
    return [results for results in grounds if results.trained]


def draw_by_tokens(out: Path, grounds: Sequence[Results]) -> Iterator[Path]:
    """Draw success on held-out tasks against sampled tokens, a picture for each ground."""
    for results in _with_trained(grounds):
        path = results.folder / CURVES
        with drawing(path, width=8) as (axes,):
            for colour, row in enumerate(results.trained.values()):
                runs = results.points(row)
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
                    label=row.label,
                )
            axes.set(xlabel="sampled tokens, thousands", ylabel="success at the long horizon")
            axes.legend(frameon=False)
        yield path


def draw_by_step(out: Path, grounds: Sequence[Results]) -> Iterator[Path]:
    """Draw success in training by optimizer step, and on test tasks before and after it.

    Each ground of which something has been trained has a panel. Each line is a moving average of a
    seed's run of the first variant; a dashed one is of its run of the second.
    """
    trained = [results for results in grounds if _logged(results, 0)]
    if not trained:
        return
    path = out / CURVES
    with drawing(path, len(trained), width=3.6) as panels:
        for axes, results in zip(panels, trained, strict=True):
            _draw_ground(axes, results)
        panels[0].set(ylabel="success (dots: test tasks)", ylim=(0, 1))
        panels[0].legend(frameon=False, loc="lower right")
    yield path


def _draw_ground(axes: Any, results: Results) -> None:
    runs, others = _logged(results, 0), _logged(results, 1)
    after = results_by_seed(results.folder / next(iter(results.study.variants)))
    shade_horizons(axes, *series(max(runs.values(), key=len), "horizon"))
    for colour, (seed, entries) in enumerate(runs.items()):
        steps, success = series(entries, "episodes/success")
        axes.plot(steps, smoothed(success), color=f"C{colour}", label=f"seed {seed}")
        for step, measured in ((0, results.start.results), (steps[-1], after)):
            if seed in measured:
                axes.plot(step, measured[seed].success, "o", color=f"C{colour}", zorder=5)
        if seed in others:
            steps, success = series(others[seed], "episodes/success")
            axes.plot(steps, smoothed(success), "--", color=f"C{colour}")
    axes.set_xlabel("optimizer steps")
    axes.set_title(results.folder.name, pad=20)


def _logged(results: Results, place: int) -> dict[int, list[dict[str, Any]]]:
    """Return the log of each seed's run of a variant, the variant by its place."""
    name = list(results.study.variants)[place]
    runs = {
        int(path.name.removeprefix("seed_")): read_metrics(path / "model")
        for path in sorted((results.folder / name).glob("seed_*"))
    }
    return {seed: entries for seed, entries in runs.items() if entries}


def draw_by_step_and_time(out: Path, grounds: Sequence[Results]) -> Iterator[Path]:
    """Draw success in training against optimizer steps and time.

    Each line is a moving average of the mean over a variant's seeds, dashed without the correction.
    """
    colours = {"0": 0, "1": 1, "2": 2, "4": 3}
    for results in _with_trained(grounds):
        path = results.folder / CURVES
        with drawing(path, 2) as (by_step, by_time):
            for name, row in results.trained.items():
                runs = [row.steps(seed) for seed in row.results]
                steps = min(map(len, runs))
                if steps < AVERAGED:
                    continue
                success, seconds = (
                    np.mean([[entry[metric] for entry in run[:steps]] for run in runs], axis=0)
                    for metric in ("episodes/success", "step_time")
                )
                mean = np.convolve(success, np.full(AVERAGED, 1 / AVERAGED), "valid")
                variant = results.study.variants[name]
                look = {
                    "color": f"C{colours[str(variant['staleness'])]}",
                    "linestyle": "--" if "correction" in variant else "-",
                    "label": row.label,
                }
                by_step.plot(range(AVERAGED, steps + 1), mean, **look)
                by_time.plot(np.cumsum(seconds)[AVERAGED - 1 :] / 60, mean, **look)
            by_step.set(
                xlabel="optimizer steps", ylabel=f"success in training, mean of {AVERAGED} steps"
            )
            by_time.set(xlabel="minutes")
            by_step.legend(frameon=False)
        yield path


DRAWINGS: dict[str, Callable[[Path, Sequence[Results]], Iterator[Path]]] = {
    "by_tokens": draw_by_tokens,
    "by_step": draw_by_step,
    "by_step_and_time": draw_by_step_and_time,
}
"""The pictures, as studies' files name them."""
