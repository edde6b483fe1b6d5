"""The tables of a study, in Markdown: its file names each column's header and cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.cli.listing import table
from lab.studies.results import Results, Row, gain_over_seeds
from trainers.evaluation.intervals import Estimate, mean_over_seeds, mean_over_tasks

Cell = Callable[[Results, Row, Any], str]
"""The study's results, a row and the column's seed or subtask, if it has one -> the cell."""


def tables_of(results: Results) -> str:
    """Return all tables of a study on one ground."""
    return "\n\n".join(_table(results, columns) for columns in results.study.tables)


def _table(results: Results, columns: Mapping[str, str]) -> str:
    headers, cells = [], []
    for header, name in columns.items():
        keys: dict[Any, str] = {None: ""}
        if "{seed}" in header:
            keys = {seed: str(seed) for seed in results.seeds}
        elif "{subtask}" in header:
            subtasks = next(row for row in results.rows if row.results).results
            keys = {
                subtask: f"{subtask} ({part.n_tasks} tasks)"
                for subtask, part in next(iter(subtasks.values())).subtasks.items()
            }
        for key, text in keys.items():
            tokens = f"{results.fewest_tokens / 1e3:.0f}k" if "{tokens}" in header else ""
            headers.append(header.format(seed=text, subtask=text, tokens=tokens))
            cells.append((CELLS[name], key))
    rows = [[cell(results, row, key) for cell, key in cells] for row in results.rows]
    return table([headers, *rows])


def _success(results: Results, row: Row, seed: int | None) -> str:
    if seed is not None:
        return f"{row.results[seed].success:.1%}" if seed in row.results else ""
    return f"{_mean_success(row):.1%}" if row.results else "not measured yet"


def _success_range(results: Results, row: Row, _: None) -> str:
    successes = [result.success for result in row.results.values()]
    span = f" ({min(successes):.1%} to {max(successes):.1%})" if row.is_trained else ""
    return f"{np.mean(successes):.1%}{span}"


def _success_over_tasks(results: Results, row: Row, _: None) -> str:
    """Write the mean success over tasks, averaged over seeds."""
    tasks = set.intersection(*(set(result.tasks) for result in row.results.values()))
    shares = [
        float(np.mean([result.tasks[task] for result in row.results.values()]))
        for task in sorted(tasks)
    ]
    episodes = sum(result.n_tasks * result.samples_per_task for result in row.results.values())
    mean = mean_over_tasks(shares, episodes=episodes)
    return f"{mean.value:.1%} ({mean.low:.1%} to {mean.high:.1%})"


def _difference(results: Results, row: Row, seed: int) -> str:
    differences = results.differences(row) if row.is_trained else {}
    return f"{100 * differences[seed]:+.1f}" if seed in differences else ""


def _mean_difference(results: Results, row: Row, _: None) -> str:
    """Write the mean difference to the reference.

    The spread of two seeds may be 0 by chance, and would claim certainty: there is none.
    """
    differences = results.differences(row) if row.is_trained else {}
    return _in_points(mean_over_seeds([*differences.values()])) if len(differences) > 2 else ""


def _difference_by_task(results: Results, row: Row, _: None) -> str:
    """Write the mean difference to the reference, paired by task as a gain is."""
    reference = results.reference
    if reference is None or row is reference or not row.is_trained:
        return ""
    return _in_points(gain_over_seeds(reference.results, row.results))


def _success_at_tokens(results: Results, row: Row) -> str:
    """Write the success at the fewest tokens, between the checkpoints on either side, linearly."""
    at_tokens = []
    for points in results.points(row).values():
        tokens, successes = zip(*((p.tokens, p.success) for p in points), strict=True)
        at_tokens.append(np.interp(results.fewest_tokens, tokens, successes))
    return f"{np.mean(at_tokens):.1%}"


def _mean_logged(row: Row, metric: str) -> float:
    entries = [entry for seed in row.results for entry in row.steps(seed)]
    return float(np.mean([entry.get(metric, 0.0) for entry in entries]))


def _mean_of_last_steps(row: Row, metric: str, *, steps: int = 3) -> float:
    """Return a logged metric's mean over each run's last steps."""
    entries = [entry for seed in row.results for entry in row.steps(seed)[-steps:]]
    return float(np.mean([entry[metric] for entry in entries]))


def _mean_success(row: Row) -> float:
    return float(np.mean([result.success for result in row.results.values()]))


def _mean_subtask(row: Row, subtask: str) -> float:
    return float(np.mean([r.subtasks[subtask].success for r in row.results.values()]))


def _in_points(gain: Estimate) -> str:
    return f"{100 * gain.value:+.1f} ({_interval(gain)})"


def _interval(gain: Estimate) -> str:
    return f"{100 * gain.low:+.1f} to {100 * gain.high:+.1f}"


def _for_variants(cell: Callable[[Results, Row], str]) -> Cell:
    """Return the cells of a column that only variants have."""
    return lambda results, row, _: cell(results, row) if row.is_trained else ""


CELLS: dict[str, Cell] = {
    "label": lambda _, row, __: row.label,
    "success": _success,
    "success_range": _success_range,
    "success_over_tasks": _success_over_tasks,
    "success_and_seeds": lambda _, row, __: f"{_mean_success(row):.1%} ({len(row.results)})",
    "subtask_success": lambda _, row, subtask: f"{_mean_subtask(row, subtask):.1%}",
    "turns": lambda _, row, __: f"{np.mean([r.mean_turns for r in row.results.values()]):.1f}",
    "invalid_actions": lambda _, row, __: (
        f"{np.mean([r.invalid_rate for r in row.results.values()]):.1%}"
    ),
    "last_entropy": _for_variants(lambda _, row: f"{_mean_of_last_steps(row, 'entropy'):.2f}"),
    "gain": _for_variants(lambda results, row: f"{100 * results.gain(row).value:+.1f} points"),
    "interval": _for_variants(lambda results, row: _interval(results.gain(row))),
    "points": _for_variants(lambda results, row: _in_points(results.gain(row))),
    "difference": _difference,
    "mean_difference": _mean_difference,
    "difference_by_task": _difference_by_task,
    "success_at_tokens": _for_variants(_success_at_tokens),
    "sampled_tokens": _for_variants(
        lambda results, row: f"{results.mean_of_last(row, 'tokens') / 1e3:.0f}k"
    ),
    "training_time": _for_variants(
        lambda results, row: f"{results.mean_of_last(row, 'seconds'):.0f} s"
    ),
    "last_horizon": _for_variants(
        lambda results, row: f"{results.mean_of_last(row, 'horizon'):.0f}"
    ),
    "steps_behind": _for_variants(lambda _, row: f"{_mean_logged(row, 'async/staleness'):.2f}"),
    "step_time": _for_variants(lambda _, row: f"{_mean_logged(row, 'step_time'):.1f} s"),
}
"""The cells of a column, as studies' files name them."""
