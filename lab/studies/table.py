"""Tables of studies, from what their runs left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.cli.listing import table
from lab.studies.runs import RESULT, START
from trainers.evaluation.intervals import Estimate, mean_gain
from trainers.evaluation.results import EvalResult
from trainers.options.errors import UsageError


def results_by_seed(folder: Path) -> dict[int, EvalResult]:
    """Read the results of one row, `seed_N/after.json`."""
    results = {}
    for path in sorted(folder.glob(f"seed_*/{RESULT}")):
        results[int(path.parent.name.removeprefix("seed_"))] = EvalResult.load(path)
    return results


def gain_over_seeds(before: Mapping[int, EvalResult], after: Mapping[int, EvalResult]) -> Estimate:
    """Return the mean gain over seeds with its 95% interval, paired by task.

    A task's gain is its mean over the seeds, so that the interval is over tasks: it tells how far
    the gain would go on other goals, not on other seeds, whose spread is seen in their own columns.

    Raises:
        ValueError: no seed was measured before and after.
    """
    seeds = sorted(set(before) & set(after))
    if not seeds:
        raise ValueError("no seed was measured both before and after")
    tasks = sorted(set.intersection(*(set(after[seed].tasks) for seed in seeds)))
    gains = [
        float(np.mean([after[seed].tasks[task] - before[seed].tasks[task] for seed in seeds]))
        for task in tasks
    ]
    return mean_gain(gains)


def in_points(gain: Estimate) -> str:
    """Write a gain and its interval, in points."""
    return f"{100 * gain.value:+.1f} ({_interval(gain)})"


def learning_table(folder: Path) -> str:
    """Return the Markdown table of `python -m lab.studies learning`, in the order of gains.

    Raises:
        UsageError: the start has not been measured.
    """
    before = results_by_seed(folder / START)
    if not before:
        raise UsageError(f"{folder / START} holds no measurement of the start yet")
    rows: list[tuple[float, tuple[str, ...]]] = []
    seeds = sorted(before)
    for path in sorted(folder.iterdir()):
        after = results_by_seed(path) if path.is_dir() and path.name != START else {}
        if after:
            gain = gain_over_seeds(before, after)
            cells = [*_by_seed(after, seeds), _mean(after), f"{100 * gain.value:+.1f} points"]
            rows.append((-gain.value, (path.name, *cells, _interval(gain))))
    header = ("algorithm", *(f"seed {seed}" for seed in seeds), "mean", "gain", "95% interval")
    start = ("(the start)", *_by_seed(before, seeds), _mean(before), "", "")
    return table([header, start, *(cells for _, cells in sorted(rows))])


def language_model_table(folder: Path, rows: Mapping[str, str]) -> str:
    """Return the Markdown table of one scenario of `python -m lab.studies language_model`.

    Args:
        folder: the scenario's.
        rows: each row's name and the folder in `folder` that holds its seeds' measurements. Those
            below `START` have a gain over it, and are left out where nothing is measured.

    Raises:
        UsageError: nothing has been measured.
    """
    measured = {name: results_by_seed(folder / place) for name, place in rows.items()}
    if not any(measured.values()):
        raise UsageError(f"{folder} holds no measurement yet")
    seeds = sorted(set().union(*measured.values()))
    header = ("", *(f"seed {seed}" for seed in seeds), "mean", "gain", "95% interval")
    start = results_by_seed(folder / START)
    trained = list(rows.values())[list(rows.values()).index(START) + 1 :]
    cells = []
    for name, results in measured.items():
        over_start = ("", "")
        if rows[name] in trained and set(results) & set(start):
            gain = gain_over_seeds(start, results)
            over_start = (f"{100 * gain.value:+.1f} points", _interval(gain))
        if results or rows[name] not in trained:
            mean = _mean(results) if results else "not measured yet"
            cells.append((name, *_by_seed(results, seeds), mean, *over_start))
    return table([header, *cells])


def _interval(gain: Estimate) -> str:
    return f"{100 * gain.low:+.1f} to {100 * gain.high:+.1f}"


def _by_seed(results: Mapping[int, EvalResult], seeds: Sequence[int]) -> list[str]:
    return [f"{results[seed].success:.1%}" if seed in results else "" for seed in seeds]


def _mean(results: Mapping[int, EvalResult]) -> str:
    return f"{np.mean([result.success for result in results.values()]):.1%}"
