"""The paired gain of one run over another, as `agentgym compare` computes it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from benchmarks.viewer.index import Index
from trainers.evaluation.intervals import mean_of
from trainers.evaluation.tally import p_of, paired

MOST_PAIRS = 300
"""Pairs of runs whose gains an exported page holds."""
_AFTER, _FRESH, _VALIDATION = "after_test", "eval_fresh", "eval"
_Tasks = dict[str, dict[tuple[str, str], list[bool]]]


def success_gain(index: Index, first: int, second: int) -> dict[str, Any] | None:
    """Return the gain of the second run over the first, in success rate.

    A training run's evaluation is the one after training, else the fresh episodes of its kept
    weights, else its last validation.

    Returns:
        The gain with its 95% interval and p value, the number of tasks, of those on which the
        second was better and worse, and each run's evaluation. None if they share no task, or if a
        run has no evaluation.
    """
    sides = [_side(index, number) for number in (first, second)]
    if any(side is None for side in sides):
        return None
    (tasks, moment), (other_tasks, other_moment) = (side for side in sides if side is not None)
    rates = [{env: _rates(own) for env, own in each.items()} for each in (tasks, other_tasks)]
    parts = [paired(rates[1][env], rates[0][env]) for env in rates[0] if env in rates[1]]
    shared = [part for part in parts if part is not None]
    if not shared:
        return None
    gain = mean_of([part.gain for part in shared])
    return {
        "gain": gain.value,
        "low": gain.low,
        "high": gain.high,
        "p": p_of(shared),
        "tasks": sum(part.n_tasks for part in shared),
        "better": sum(part.better for part in shared),
        "worse": sum(part.worse for part in shared),
        "of": [moment, other_moment],
    }


def all_gains(index: Index) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the numbers and the gain of the first `MOST_PAIRS` pairs of runs that have one."""
    runs = [number for number, run in enumerate(index.runs) if run.has_options]
    for _, (first, second) in zip(range(MOST_PAIRS), combinations(runs, 2), strict=False):
        if (gain := success_gain(index, first, second)) is not None:
            yield f"{first},{second}", gain


def _side(index: Index, number: int) -> tuple[_Tasks, str] | None:
    """Return a run's successes by environment and task, and their evaluation."""
    run = index.runs[number]
    own = [
        (index.files[entry.file].phase, entry)
        for entry in index.entries
        if index.files[entry.file].run.name == run.name
    ]
    moment = ""
    if run.kind == "training":
        phases = {phase.rpartition("_")[0]: phase for phase, _ in sorted(own, key=lambda e: e[0])}
        has_after = any(phase == _AFTER for phase, _ in own)
        played = phases.get(_FRESH) or phases.get(_VALIDATION)
        chosen = _AFTER if has_after else played
        if chosen is None:
            return None
        own = [(phase, entry) for phase, entry in own if phase == chosen]
        name = "fresh episodes" if _FRESH in phases else "validation"
        moment = "after training" if has_after else f"{name} at step {own[0][1].step}"
    if len({(entry.policy, entry.step) for _, entry in own}) != 1:
        return None
    tasks: _Tasks = {}
    for _, entry in own:
        if entry.status != "failed":
            task = tasks.setdefault(entry.env, {}).setdefault((entry.source, entry.task), [])
            task.append(entry.success)
    return tasks, moment


def _rates(tasks: dict[tuple[str, str], list[bool]]) -> dict[tuple[str, str], float]:
    return {task: sum(each) / len(each) for task, each in tasks.items()}
