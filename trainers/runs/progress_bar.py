"""Episodes while they are played: a bar that shows how far, and a file of those that have ended.

Hours of play must not be lost to Ctrl-C or to the last episode.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from agentgym_envs.trajectory import Trajectory
from wrappers import TrajectoryWriter


def episode_progress(*, transient: bool = False) -> Progress:
    """Return a progress bar that counts episodes, on the standard error.

    Args:
        transient: it vanishes at its end, and is not there where nobody could watch it.
    """
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("episodes, ends in"),
        TimeRemainingColumn(),
        console=console,
        transient=transient,
        disable=transient and not console.is_terminal,
    )


class Watch:
    """Watches episodes being played, and keeps those that end until the caller has written them.

    A context manager and an engine's `on_trajectory`. Leaving it by an error says where the
    episodes are.

    Args:
        name: who plays; stands before the bar.
        total: episodes to play.
        kept_for: the file that is to hold them all. Each episode is added, as it ends, to a file
            beside it, which stays until `written`; None keeps nothing.
    """

    def __init__(self, name: str, total: int, *, kept_for: str | Path | None = None) -> None:
        self._name = name
        self._bar = episode_progress(transient=True)
        self._task = self._bar.add_task(name, total=total)
        self._writer = None if kept_for is None else TrajectoryWriter(_beside(Path(kept_for)))
        self._num_kept = 0
        self._scored: list[bool] = []

    def __call__(self, trajectory: Trajectory) -> None:
        """Take an episode that has ended."""
        if self._writer is not None:
            self._writer(trajectory)
            self._num_kept += 1
        if trajectory.status != "failed":
            self._scored.append(trajectory.success)
        success = f": success {fmean(self._scored):.1%}" if self._scored else ""
        self._bar.update(self._task, advance=1, description=f"{self._name}{success}")

    def written(self) -> None:
        """Forget the episodes, which the caller has written."""
        if self._writer is not None:
            self._writer.path.unlink(missing_ok=True)
            self._num_kept = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()
        if self._writer is not None and self._num_kept:
            message = f"{self._num_kept} episodes had ended; they are kept in {self._writer.path}"
            print(message, file=sys.stderr)


def _beside(path: Path) -> Path:
    """Return an unused file name beside `path`."""
    names = (f"{path.stem}.unfinished{number}.jsonl" for number in ("", *range(2, 10_000)))
    return next(file for file in map(path.with_name, names) if not file.exists())
