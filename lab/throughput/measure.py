"""Timing of one workload against a baseline, and the record of it.

Both sides of a comparison take turns, so that a machine whose speed drifts slows both.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from trainers.runs.provenance import checkout_commit


@dataclass
class Stopwatch:
    """Adds up the time spent in the parts of a workload that count.

    Attributes:
        seconds: time inside `running()`.
        units: what was done in that time: steps, resets or tokens.
    """

    seconds: float = 0.0
    units: int = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of a `with` block."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - start

    @property
    def rate(self) -> float:
        """Units per second."""
        return self.units / self.seconds


Workload = Callable[[Stopwatch], None]
"""Does a fixed amount of work, timing and counting it on the stopwatch."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Attributes:
        name: what is measured.
        unit: what is counted, such as `"steps"`.
        work: the workload.
    """

    name: str
    unit: str
    work: Workload


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        group: the part of the benchmark it belongs to.
        name: what was measured, with its rate in `unit` per second.
        baseline: what it was compared with, or "".
        baseline_rate: the baseline's rate in `baseline_unit` per second, or None.
        speed: median over the repeats of (baseline's seconds / ours), both for the same work: at
            2.0 ours takes half the time, at 0.5 twice the time. None without a baseline.
        speed_range: least and greatest of those ratios.
        repeats: how often both sides ran, alternating.
        notes: further numbers worth knowing.
    """

    group: str
    name: str
    unit: str
    rate: float
    baseline: str = ""
    baseline_unit: str = ""
    baseline_rate: float | None = None
    speed: float | None = None
    speed_range: tuple[float, float] | None = None
    repeats: int = 1
    notes: dict[str, Any] = field(default_factory=dict)


def compare(
    group: str,
    ours: Side,
    baseline: Side | None = None,
    *,
    repeats: int = 5,
    warm_up: bool = True,
    **notes: Any,
) -> Row:
    """Run both sides in turn and take medians.

    Args:
        group: the part of the benchmark.
        ours: what is measured.
        baseline: what does the same work otherwise; None measures ours alone.
        repeats: timed runs of each side.
        warm_up: run each side once untimed before.
        **notes: kept in the row.
    """
    sides = [ours] if baseline is None else [ours, baseline]
    if warm_up:
        for side in sides:
            side.work(Stopwatch())
    runs: list[list[Stopwatch]] = [[] for _ in sides]
    for repeat in range(repeats):
        order = range(len(sides)) if repeat % 2 == 0 else reversed(range(len(sides)))
        for index in order:
            watch = Stopwatch()
            sides[index].work(watch)
            runs[index].append(watch)
    rates = [statistics.median(watch.rate for watch in watches) for watches in runs]
    if baseline is None:
        return Row(group, ours.name, ours.unit, rates[0], repeats=repeats, notes=notes)
    ratios = [theirs.seconds / mine.seconds for mine, theirs in zip(*runs, strict=True)]
    return Row(
        group,
        ours.name,
        ours.unit,
        rates[0],
        baseline=baseline.name,
        baseline_unit=baseline.unit,
        baseline_rate=rates[1],
        speed=statistics.median(ratios),
        speed_range=(min(ratios), max(ratios)),
        repeats=repeats,
        notes=notes,
    )


_PACKAGES = ("agentgym-envs", "gymnasium", "minigrid", "numpy", "torch", "transformers")


def machine(*further: str) -> dict[str, Any]:
    """Describe the machine and the versions of the measured packages.

    Args:
        *further: packages whose versions matter, too.
    """
    versions = {}
    for name in (*_PACKAGES, *further):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": checkout_commit(),
        "cpu": _cpu_name(),
        "cores": num_cores(),
        "load_1min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": versions,
    }


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()


def num_cores() -> int | None:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
