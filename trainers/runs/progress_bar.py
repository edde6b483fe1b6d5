"""Episodes while they are played: a bar that shows how far, and a file of those that have ended.

Hours of play must not be lost to Ctrl-C or to the last episode.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from agentgym_envs.files import append_whole
from agentgym_envs.trajectory import Trajectory
from trainers.options.errors import UsageError


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


class KeptEpisodes(dict[int, Trajectory]):
    """The episodes that have ended, by their place in the list of tasks, in memory and in a file.

    Args:
        path: the file; what it holds is taken in.
        options: a digest of what decides which episodes are played; a file of others is refused.

    Raises:
        UsageError: the file holds episodes of other options.
    """

    def __init__(self, path: Path, options: str) -> None:
        super().__init__()
        self.path = path
        self._options = options
        for record in _records(path):
            if record.get("options") != options:
                raise UsageError(
                    f"{path} holds episodes that were played with other options; give these "
                    "again, or leave --resume out"
                )
            super().__setitem__(record["place"], Trajectory.from_json(record))

    def __setitem__(self, place: int, trajectory: Trajectory) -> None:
        super().__setitem__(place, trajectory)
        record = {"place": place, "options": self._options, **trajectory.to_json()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_whole(self.path, json.dumps(record).encode() + b"\n")


class Watch:
    """Watches episodes being played, and keeps those that end until the caller has written them.

    A context manager and a rollout's `on_trajectory`. Leaving it by an error says where the
    episodes are.

    Args:
        name: who plays; stands before the bar.
        total: episodes to play.
        kept_for: the file that is to hold them all. Each episode is added, as it ends, to a file
            beside it, which stays until `written`; None keeps nothing.
        resume: take in what an earlier call has kept.
        options: what decides which episodes are played.

    Attributes:
        kept: a rollout's `kept`; None where nothing is kept.
    """

    def __init__(
        self,
        name: str,
        total: int,
        *,
        kept_for: str | Path | None = None,
        resume: bool = False,
        options: Sequence[Any] = (),
    ) -> None:
        self._name = name
        self._bar = episode_progress(transient=True)
        self._task = self._bar.add_task(name, total=total)
        self._scored: dict[str, list[bool]] = {}  # by environment
        self.kept: KeptEpisodes | None = None
        if kept_for is not None:
            digest = sha256(repr(options).encode()).hexdigest()[:16]
            self.kept = KeptEpisodes(_beside(Path(kept_for), is_last=resume), digest)
            for trajectory in self.kept.values():
                self(trajectory)

    def __call__(self, trajectory: Trajectory) -> None:
        """Count an episode that has ended."""
        if trajectory.status != "failed":
            self._scored.setdefault(trajectory.env_id, []).append(trajectory.success)
        rates = [fmean(scored) for scored in self._scored.values()]
        success = f": success {fmean(rates):.1%}" if rates else ""
        self._bar.update(self._task, advance=1, description=f"{self._name}{success}")

    def written(self) -> None:
        """Forget the episodes, which the caller has written."""
        if self.kept is not None:
            self.kept.path.unlink(missing_ok=True)
            self.kept.clear()

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
        if self.kept:
            print(
                f"{len(self.kept)} episodes had ended; they are kept in {self.kept.path}. The same "
                "command with --resume plays the others",
                file=sys.stderr,
            )


def _beside(path: Path, *, is_last: bool) -> Path:
    """Return an unused file name beside `path`, or the last one that is used."""
    names = (f"{path.stem}.unfinished{number}.jsonl" for number in ("", *range(2, 10_000)))
    last = None
    for file in map(path.with_name, names):
        if not file.exists():
            return last if is_last and last is not None else file
        last = file
    raise UsageError(f"there are too many unfinished files beside {path}; remove some")


def _records(path: Path) -> list[dict[str, Any]]:
    """Read a file's lines; half of the last one, which a kill may have left, is cut off."""
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        os.truncate(path, len(whole))
    return [json.loads(line) for line in whole.splitlines()]
