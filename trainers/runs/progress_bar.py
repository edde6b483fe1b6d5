"""Shows how far episodes are played: a bar in a terminal, and lines where there is none."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from agentgym_envs.trajectory import Trajectory
from trainers.ledger import Ledger
from trainers.options.errors import UsageError
from trainers.runs.kept import ANSWERS, KeptEpisodes, unfinished_file

LINE_SECONDS = 30.0
"""Between two lines, where there is no terminal."""


class EpisodeProgress:
    """How far episodes are played, on the standard error: a context.

    Shown are the episodes that have ended, those of them that failed, the success so far, what was
    spent, and the time left.

    Args:
        name: what is played; stands in front.
        total: episodes in all.
        spent: tells what was spent so far; None where nobody knows.
        transient: the bar vanishes at the end.
        clock: the time in seconds.
    """

    def __init__(
        self,
        name: str,
        total: int,
        *,
        spent: Callable[[], float | None] | None = None,
        transient: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Imported here: a help page shows no bar.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.name = name
        self._total = total
        self._spent = spent
        self._clock = clock
        self._began = clock()
        self._ended = self._ended_before = self._failed = 0
        self._scored, self._successes = Counter[str](), Counter[str]()  # by environment
        console = Console(stderr=True)
        self._is_shown = console.is_terminal
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[facts]}"),
            console=console,
            transient=transient,
            disable=not self._is_shown,
        )
        self._task = self._bar.add_task(name, total=total, facts="")
        self._is_over = Event()
        self._writer: Thread | None = None

    def add(
        self,
        *,
        episodes: int = 1,
        failed: int = 0,
        scored: int = 0,
        successes: int = 0,
        env_id: str = "",
        earlier: bool = False,
    ) -> None:
        """Count episodes that have ended.

        Args:
            episodes: how many.
            failed: those of them whose machinery broke.
            scored: those of them whose outcome is known.
            successes: those of them that succeeded.
            env_id: where they were played; the success shown is the mean over environments.
            earlier: an earlier command played them, so they tell nothing of the time that is left.
        """
        self._ended += episodes
        self._ended_before += episodes * earlier
        self._failed += failed
        self._scored[env_id] += scored
        self._successes[env_id] += successes
        self.show()

    def show(self, name: str | None = None) -> None:
        """Draw the bar anew, under another name if one is given."""
        self.name = name or self.name
        self._bar.update(
            self._task, completed=self._ended, description=self.name, facts=self.facts()
        )

    def facts(self) -> str:
        """Return the numbers, such as `12 of 40 episodes, success 45.5%, 0:02:10 left`."""
        parts = [f"{self._ended} of {self._total} episodes"]
        if self._failed:
            parts.append(f"{self._failed} failed")
        rates = [self._successes[name] / count for name, count in self._scored.items() if count]
        if rates:
            parts.append(f"success {fmean(rates):.1%}")
        if self._spent is not None and (spent := self._spent()) is not None:
            parts.append(f"cost {spent:.4g}")
        if played := self._ended - self._ended_before:
            left = (self._clock() - self._began) / played * (self._total - self._ended)
            parts.append(f"{timedelta(seconds=round(left))} left")
        return ", ".join(parts)

    def __enter__(self) -> Self:
        self._bar.start()
        if not self._is_shown:
            self._writer = Thread(target=self._write_lines, daemon=True, name="progress")
            self._writer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_over.set()
        if self._writer is not None:
            self._writer.join()  # no line is half written, or after what the caller writes
        self._bar.stop()

    def _write_lines(self) -> None:
        while not self._is_over.wait(LINE_SECONDS):
            print(f"{self.name}: {self.facts()}", file=sys.stderr, flush=True)


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
        ledger: of the policy's server; the answers that it paid for are kept too.

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
        ledger: Ledger | None = None,
    ) -> None:
        self._ledger = ledger
        self._progress = EpisodeProgress(
            name, total, spent=None if ledger is None else lambda: ledger.spent
        )
        self.kept: KeptEpisodes | None = None
        if kept_for is not None:
            digest = sha256(repr(options).encode()).hexdigest()[:16]
            self.kept = KeptEpisodes(_file_to_keep(Path(kept_for), resume=resume), digest)
            if ledger is not None:
                ledger.keep_in(self.kept.path.with_suffix(ANSWERS))
            for trajectory in self.kept.values():
                self._count(trajectory, earlier=True)

    def __call__(self, trajectory: Trajectory) -> None:
        """Count an episode that has ended."""
        self._count(trajectory)

    def written(self) -> None:
        """Forget the episodes, which the caller has written."""
        if self.kept is not None:
            self.kept.path.unlink(missing_ok=True)
            self.kept.clear()
        if self._ledger is not None:
            self._ledger.forget()

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.__exit__(kind, error, traceback)
        spent = (self._ledger.spent if self._ledger is not None else None) or 0.0
        if self.kept or (self.kept is not None and spent and kind is not None):
            cost = f", and the answers that have cost {spent:.4g}" * bool(spent)
            print(
                f"{len(self.kept)} episodes had ended; they are kept in {self.kept.path}{cost}. "
                "The same command with --resume plays the others",
                file=sys.stderr,
            )

    def _count(self, trajectory: Trajectory, *, earlier: bool = False) -> None:
        is_scored = trajectory.status != "failed"
        self._progress.add(
            failed=not is_scored,
            scored=is_scored,
            successes=is_scored and trajectory.success,
            env_id=trajectory.env_id,
            earlier=earlier,
        )


def _file_to_keep(path: Path, *, resume: bool) -> Path:
    """Return the file beside `path` that keeps what has ended.

    Raises:
        UsageError: there is nothing to resume, since `path` itself is there.
    """
    earlier, new = (unfinished_file(path, is_last=is_last) for is_last in (True, False))
    if not resume and earlier != new:
        print(
            f"{earlier} keeps what an earlier call played; --resume would go on with it, and this "
            "call plays anew",
            file=sys.stderr,
        )
    if resume and earlier == new and path.exists():
        raise UsageError(
            f"{path} is finished, so there is nothing to resume; leave --resume out to play anew"
        )
    return earlier if resume else new
