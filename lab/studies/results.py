"""The results of a study's runs in a ground's folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lab.studies.study import RESULT, START, Study
from trainers.evaluation.intervals import Estimate, mean_gain
from trainers.evaluation.results import EvalResult
from trainers.runs.checkpoints import CHECKPOINT
from trainers.runs.folder import read_metrics

ResultsBySeed = Mapping[int, EvalResult]


@dataclass(frozen=True)
class Row:
    """One row of a table: the start, a baseline, or the runs of a variant.

    Attributes:
        label: its name.
        folder: holds a folder for each seed.
        results: the measurements by seed.
        is_trained: it is a variant, which the start is compared with.
    """

    label: str
    folder: Path
    results: ResultsBySeed
    is_trained: bool = False

    def steps(self, seed: int) -> list[dict[str, Any]]:
        """Return the log entries of the optimizer steps of one seed's run."""
        entries = read_metrics(self.folder / f"seed_{seed}" / "model")
        return [entry for entry in entries if "episodes/success" in entry]


@dataclass(frozen=True)
class Point:
    """A checkpoint of a run, measured.

    Attributes:
        step: optimizer steps behind it.
        tokens: tokens sampled up to it.
        seconds: time trained up to it.
        horizon: turns of the last episodes that it was trained on.
        success: on the held-out tasks.
    """

    step: int
    tokens: float
    seconds: float
    horizon: float
    success: float


@dataclass(frozen=True)
class Results:
    """The measurements of a study on one ground.

    Attributes:
        study: the study.
        folder: the ground's.
    """

    study: Study
    folder: Path

    @property
    def is_measured(self) -> bool:
        """Something is measured."""
        return any(row.results for row in self.rows)

    @cached_property
    def start(self) -> Row:
        """The model that all runs begin with."""
        folder = self.folder / START
        return Row(self.study.start_label or START, folder, results_by_seed(folder))

    @cached_property
    def trained(self) -> dict[str, Row]:
        """The variants of which a run is measured."""
        rows = {}
        for name, variant in self.study.variants.items():
            folder = self.folder / name
            results = results_by_seed(folder)
            if results:
                label = variant.get("label", name)
                rows[name] = Row(label, folder, results, is_trained=True)
        return rows

    @cached_property
    def rows(self) -> list[Row]:
        """The baselines, the start and the variants."""
        baselines = [
            Row(baseline["label"], self.folder / name, results_by_seed(self.folder / name))
            for name, baseline in self.study.baselines.items()
        ]
        start = [] if self.study.start_label is None else [self.start]
        trained = list(self.trained.values())
        if self.study.best_first:
            trained.sort(key=lambda row: (-self.gain(row).value, row.label))
        return [*baselines, *start, *trained]

    @property
    def seeds(self) -> list[int]:
        """The seeds that something is measured with."""
        return sorted(set(self.start.results).union(*(row.results for row in self.rows)))

    @property
    def reference(self) -> Row | None:
        """The variant that others are compared with, or None without measurements."""
        return self.trained.get(self.study.reference)

    def gain(self, row: Row) -> Estimate:
        """Return the gain of a variant over the start, by `gain_over_seeds`."""
        return gain_over_seeds(self.start.results, row.results)

    def differences(self, row: Row) -> dict[int, float]:
        """Return a variant's success less the reference's, for each seed that both have."""
        reference = self.reference
        if reference is None or row is reference:
            return {}
        shared = sorted(set(row.results) & set(reference.results))
        return {s: row.results[s].success - reference.results[s].success for s in shared}

    def points(self, row: Row) -> dict[int, list[Point]]:
        """Return the measured checkpoints of a variant by seed, the start first."""
        points_by_seed: dict[int, list[Point]] = {}
        for seed in sorted(set(row.results) & set(self.start.results)):
            points = [Point(0, 0.0, 0.0, 0.0, self.start.results[seed].success)]
            tokens = seconds = 0.0
            entries = row.steps(seed)
            for entry in entries:
                step = entry["global_step"]
                tokens += entry["episodes/sampled_tokens"] * self.study.episodes_per_step
                seconds += entry.get("step_time", 0.0)
                path = row.folder / f"seed_{seed}" / f"{RESULT}_{step}.json"
                if entry is entries[-1] or path.exists():
                    last = row.results[seed]
                    result = last if entry is entries[-1] else EvalResult.load(path)
                    points.append(Point(step, tokens, seconds, entry["horizon"], result.success))
            points_by_seed[seed] = points
        return points_by_seed

    @cached_property
    def fewest_tokens(self) -> float:
        """The smallest number of tokens that a variant sampled, averaged over its seeds."""
        return min((self.mean_of_last(row, "tokens") for row in self.trained.values()), default=0.0)

    def mean_of_last(self, row: Row, attribute: str) -> float:
        """Return the mean over seeds of an attribute of the last `Point`."""
        runs = self.points(row).values()
        return float(np.mean([getattr(points[-1], attribute) for points in runs]))


def results_by_seed(folder: Path) -> dict[int, EvalResult]:
    """Read the results in `seed_N/`, the last checkpoint's of a run that was cut."""
    results = {}
    for own in sorted(folder.glob("seed_*")):
        cut = sorted(
            own.glob(f"{CHECKPOINT}*/{RESULT}.json"),
            key=lambda path: int(path.parent.name.removeprefix(CHECKPOINT)),
        )
        path = own / f"{RESULT}.json"
        for measured in [path] if path.exists() else cut[-1:]:
            results[int(own.name.removeprefix("seed_"))] = EvalResult.load(measured)
    return results


def gain_over_seeds(before: ResultsBySeed, after: ResultsBySeed) -> Estimate:
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
