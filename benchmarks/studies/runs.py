"""Runs of a study: commands in their own processes, some at a time, none of them twice.

Knows command lines and folders; what is trained and measured is the study's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

DONE = "done"
LOG = "log.txt"


@dataclass(frozen=True)
class Run:
    """One entry of a study.

    Attributes:
        folder: what the commands write into.
        commands: the words after `agentgym`, one entry per command, in order.
    """

    folder: Path
    commands: tuple[tuple[str, ...], ...]

    @property
    def is_done(self) -> bool:
        """All commands have succeeded, in this call or an earlier one."""
        return (self.folder / DONE).exists()


def play_all(runs: Sequence[Run], *, workers: int, threads: int) -> None:
    """Play the runs that are not done yet.

    Args:
        runs: the runs.
        workers: runs at a time.
        threads: torch threads of each.

    Raises:
        RuntimeError: a command failed; the message names its log. The others that had begun end
            first, and a second call goes on with those that are left.
    """
    waiting = [run for run in runs if not run.is_done]
    print(f"{len(runs) - len(waiting)} of {len(runs)} runs are done", flush=True)
    with ThreadPoolExecutor(workers) as pool:
        playing = [pool.submit(_play, run, threads) for run in waiting]
        try:
            finished, _ = wait(playing, return_when=FIRST_EXCEPTION)
        finally:
            pool.shutdown(cancel_futures=True)
    for future in finished:
        future.result()


def _play(run: Run, threads: int) -> None:
    run.folder.mkdir(parents=True, exist_ok=True)
    with (run.folder / LOG).open("a", encoding="utf-8") as log:
        for words in run.commands:
            command = [sys.executable, "-m", "benchmarks", *words]
            environ = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}
            status = subprocess.run(
                command, stdout=log, stderr=subprocess.STDOUT, env=environ, check=False
            ).returncode
            if status:
                raise RuntimeError(
                    f"agentgym {' '.join(words)} ended with status {status}; see {run.folder / LOG}"
                )
    (run.folder / DONE).touch()
    print(f"done: {run.folder}", flush=True)
