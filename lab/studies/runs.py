"""Runs of a study: commands in their own processes, some at a time, none of them twice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from trainers.runs.folder import holding

DONE = "done"
LOG = "log.txt"
PROGRAMS = {"agentgym": (sys.executable, "-m", "benchmarks"), "python": (sys.executable,)}
"""First word of a command -> its replacement, by the interpreter that runs the study."""


@dataclass(frozen=True)
class Run:
    """One entry of a study.

    Attributes:
        folder: what the commands write into.
        commands: the words of each command, in order; the first word is one of `PROGRAMS`.
    """

    folder: Path
    commands: tuple[tuple[str, ...], ...]

    @property
    def is_done(self) -> bool:
        """All commands have succeeded, in this call or an earlier one."""
        return (self.folder / DONE).exists()


def run_all(
    runs: Sequence[Run], *, workers: int, threads: int, seconds: float | None = None
) -> None:
    """Run those that are not done yet, each from the command that has not ended yet.

    Args:
        runs: the runs.
        workers: runs at a time.
        threads: torch threads of each.
        seconds: after which all but evaluations are terminated; trainings leave a checkpoint.

    Raises:
        RuntimeError: a command failed; the message names its log. The others that had begun end
            first, and a second call goes on with those that are left.
        UsageError: another study holds one of the runs.
    """
    waiting = [run for run in runs if not run.is_done]
    print(f"{len(runs) - len(waiting)} of {len(runs)} runs are done", flush=True)
    end = None if seconds is None else time.monotonic() + seconds
    with ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(_run, run, threads, end) for run in waiting]
        try:
            finished, _ = wait(running, return_when=FIRST_EXCEPTION)
        finally:
            pool.shutdown(cancel_futures=True)
    for future in finished:
        future.result()


def progress(runs: Sequence[Run]) -> str:
    """Return the number of finished runs and the names of the others, in words."""
    left = [f"{run.folder.parent.name}/{run.folder.name}" for run in runs if not run.is_done]
    done = f"{len(runs) - len(left)} of {len(runs)} runs are done"
    return f"{done}; left: {', '.join(left)}" if left else done


def _run(run: Run, threads: int, end: float | None) -> None:
    with holding(run.folder, "study"), (run.folder / LOG).open("a", encoding="utf-8") as log:
        for number, words in enumerate(run.commands):
            ended = run.folder / f"{DONE}_{number}"
            if ended.exists():
                continue
            command = [*PROGRAMS[words[0]], *words[1:]]
            environ = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}
            seconds = None if end is None or words[1] == "eval" else end - time.monotonic()
            if seconds is not None and seconds <= 0:
                return
            with subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=environ
            ) as process:
                try:
                    process.wait(seconds)
                except subprocess.TimeoutExpired:
                    process.terminate()
                    process.wait()
                    return
            if process.returncode:
                raise RuntimeError(
                    f"{' '.join(words)} ended with status {process.returncode}; see "
                    f"{run.folder / LOG}"
                )
            ended.touch()
    (run.folder / DONE).touch()
    print(f"done: {run.folder}", flush=True)
