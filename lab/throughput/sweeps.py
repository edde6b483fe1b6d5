"""Measures how many requests a sweep of a policy behind a slow server has under way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.sweep.plan import grid
from benchmarks.sweep.players import over_processes
from benchmarks.sweep.runner import play_missing
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.suite_files import find_suite
from lab.throughput.measure import Row, Side, Stopwatch, compare
from lab.throughput.slow_server import delay, serving


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
        seconds: that an answer takes, where it is not slow.
        workers: of the sweep.
        samples: episodes per task; there are 100 tasks.
        turns: turns of every episode.
        batch_size: episodes of a batch.
        max_requests: requests that are allowed under way at once.
    """

    seconds: float
    workers: int
    samples: int = 3
    turns: int = 10
    batch_size: int = 32
    max_requests: int = 16


CASES = (Case(0.25, workers=2), Case(0.25, workers=1))


def sweep_rows(_repeats: int, *, cases: Sequence[Case] = CASES) -> Iterator[Row]:
    """Measure every case once, since it takes minutes."""
    for case in cases:
        notes: dict[str, Any] = {}
        side = Side(f"sweep, {case.workers} workers", "requests", partial(_play, case, notes))
        row = compare("sweep", side, repeats=1, warm_up=False)
        row.notes.update(notes)
        yield row


def _play(case: Case, notes: dict[str, Any], watch: Stopwatch) -> None:
    settings = {
        "action_format": "function_call",
        "api_model": "slow",
        "max_requests": case.max_requests,
    }
    with (
        serving(lambda body: delay(case.seconds, [body["seed"]])) as server,
        TemporaryDirectory() as path,
    ):
        cells = grid(
            find_suite("textcraft"),
            [server.url],
            max_turns=[case.turns],
            seeds=[0],
            samples=case.samples,
            temperature=1.0,
            batch_size=case.batch_size,
            settings=settings,
        )
        folder = SweepFolder(path)
        folder.claim(cells)
        with watch.running():
            play_missing(folder, cells, over_processes(case.workers, 1))
    watch.units += server.num_requests
    notes["seconds"] = round(watch.seconds)
    notes["under_way"] = f"{server.mean_under_way:.1f} of {case.max_requests}"
