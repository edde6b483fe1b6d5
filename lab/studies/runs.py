"""Runs of a study: commands in their own processes, some at a time, none of them twice."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainers.options.parser import OptionParser
from trainers.runs.lock import holding

AGENTGYM = "benchmarks"
DONE = "done"
LOG = "log.txt"
RESULT = "after.json"
START = "start"
STARTS = "starts"

AS_TINY_LEARNT = ("--env_kwargs", '{"turns_left": false}')
"""Options of TextCraft as `tiny` has read it: never that its turns run out."""

Measurement = Callable[[str, Path, int], tuple[str, ...]]
"""Model, result file and seed -> the words of the command that measures it."""


@dataclass(frozen=True)
class Run:
    """One entry of a study.

    Attributes:
        folder: what the commands write into.
        commands: the words after `agentgym`, one entry per command, in order.
        module: what is run in place of `agentgym`.
    """

    folder: Path
    commands: tuple[tuple[str, ...], ...]
    module: str = AGENTGYM

    @property
    def is_done(self) -> bool:
        """All commands have succeeded, in this call or an earlier one."""
        return (self.folder / DONE).exists()


def play_all(
    runs: Sequence[Run], *, workers: int, threads: int, seconds: float | None = None
) -> None:
    """Play the runs that are not done yet, each from the command that has not ended yet.

    Args:
        runs: the runs.
        workers: runs at a time.
        threads: torch threads of each.
        seconds: after which commands are told to stop, and trainings leave a checkpoint.

    Raises:
        RuntimeError: a command failed; the message names its log. The others that had begun end
            first, and a second call goes on with those that are left.
        UsageError: another study plays one of the runs.
    """
    waiting = [run for run in runs if not run.is_done]
    print(f"{len(runs) - len(waiting)} of {len(runs)} runs are done", flush=True)
    end = None if seconds is None else time.monotonic() + seconds
    with ThreadPoolExecutor(workers) as pool:
        playing = [pool.submit(_play, run, threads, end) for run in waiting]
        try:
            finished, _ = wait(playing, return_when=FIRST_EXCEPTION)
        finally:
            pool.shutdown(cancel_futures=True)
    for future in finished:
        future.result()


def left_of(runs: Sequence[Run]) -> str:
    """Say how many runs are done, and which are left."""
    left = [f"{run.folder.parent.name}/{run.folder.name}" for run in runs if not run.is_done]
    done = f"{len(runs) - len(left)} of {len(runs)} runs are done"
    return f"{done}; left: {', '.join(left)}" if left else done


def _play(run: Run, threads: int, end: float | None) -> None:
    with holding(run.folder, "study"), (run.folder / LOG).open("a", encoding="utf-8") as log:
        for number, words in enumerate(run.commands):
            ended = run.folder / f"{DONE}_{number}"
            if ended.exists():
                continue
            command = [sys.executable, "-m", run.module, *words]
            environ = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}
            with subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=environ
            ) as process:
                try:
                    process.wait(None if end is None else max(0.0, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    process.terminate()
                    process.wait()
                    return
            status = process.returncode
            if status:
                program = "agentgym" if run.module == AGENTGYM else f"python -m {run.module}"
                raise RuntimeError(
                    f"{program} {' '.join(words)} ended with status {status}; see "
                    f"{run.folder / LOG}"
                )
            ended.touch()
    (run.folder / DONE).touch()
    print(f"done: {run.folder}", flush=True)


def study_parser(
    name: str,
    description: str | None,
    *,
    seeds: Sequence[int],
    workers: int = 2,
    threads: int = 1,
) -> OptionParser:
    """Return a parser of the options that all studies share; the numbers are their defaults."""
    parser = OptionParser(prog=f"python -m lab.studies {name}", description=description)
    parser.add_argument("--out", default=f"runs/study_{name}", help="the study's folder")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(seeds))
    parser.add_argument("--workers", type=int, default=workers, help="runs at a time")
    parser.add_argument("--threads", type=int, default=threads, help="torch threads of each")
    parser.add_argument("--table_only", action="store_true", help="print what is there")
    return parser


def start_of(continued: str, folder: Path) -> str:
    """Return the model that runs begin with; studies in folders beside each other share it.

    Args:
        continued: what `python -m lab.warm_start --continue` takes to make it; empty is `tiny`
            as shipped.
        folder: the runs', one entry of their study's.
    """
    return str(folder.parent.parent / STARTS / continued) if continued else "tiny"


def making_of(continued: str, folder: Path) -> Run | None:
    """Return what makes `start_of`; None where it is shipped."""
    if not continued:
        return None
    model = start_of(continued, folder)
    words = ("--continue", continued, "--out", model)
    return Run(Path(f"{model}_made"), (words,), module="lab.warm_start")


def play_study(
    options: argparse.Namespace,
    folder: Path,
    runs: Sequence[Run],
    measurement: Measurement,
    *,
    start: str = "tiny",
    making: Run | None = None,
) -> None:
    """Measure the start with every seed and play the runs, unless only the table is asked for.

    Args:
        options: as `study_parser` reads them.
        folder: the study's.
        runs: what is trained.
        measurement: how a model is measured.
        start: the model that all runs begin with.
        making: what makes it, first of all; None where it is there.
    """
    if options.table_only:
        return
    play = partial(play_all, workers=options.workers, threads=options.threads)
    if making is not None:
        play([making])
    starts = []
    for seed in options.seeds:
        own = folder / START / f"seed_{seed}"
        starts.append(Run(own, (measurement(start, own / RESULT, seed),)))
    play([*starts, *runs])
