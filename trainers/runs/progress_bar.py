"""Shows the progress of episodes, and keeps finished ones until all of them are written.

There are bars in a terminal, and lines elsewhere.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

from agentgym_envs.content.files import append_whole, is_storage_failure, whole_lines
from agentgym_envs.core.text import counted
from agentgym_envs.machinery.secrets import masked
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.ledger import Ledger
from trainers.options.errors import BROKEN_OFF, UsageError
from trainers.runs.folder import Result, write_patiently

ANSWERS = ".answers"
"""The suffix of the file of a server's answers, beside that of the episodes."""
LINE_SECONDS = 30.0
"""Between two lines, where there is no terminal."""

_ALL = "all"


def _facts(row: Counter[str], spent: float | None) -> list[str]:
    """Return a player's numbers in words."""
    # No rate of those that have ended: who wins ends first.
    parts = [f"{row['ended']:,} of {counted(row['total'], 'episode')}"]
    if row["won"] or row["lost"]:
        parts += [f"{row['won']} won", f"{row['lost']} lost"]
    if row["failed"]:
        parts.append(f"{row['failed']} failed")
    if 0 < row["ended"] < row["total"]:
        parts.append(f"{row['total'] - row['ended']} under way or to come")
    if spent is not None:
        parts.append(f"cost {spent:.4g}")
    return parts


class EpisodeProgress:
    """A progress bar of episodes on the standard error, as a context manager.

    It shows the episodes that have ended, those of them that were won, lost and failed, the cost,
    and the time left. Several players have a row each, and one for all.

    Args:
        totals: the episodes of each player, by name.
        spent: returns each player's cost so far, by name; None where it is unknown.
        transient: the bars vanish at the end.
        clock: the time in seconds.
    """

    def __init__(
        self,
        totals: Mapping[str, int],
        *,
        spent: Callable[[], Mapping[str, float | None]] | None = None,
        transient: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Imported here: a help page shows no bar.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._rows = {name: Counter(total=total) for name, total in totals.items()}
        self._lines: dict[str, str] = {}  # what was written last
        self._spent = spent or dict
        self._clock = clock
        self._began = clock()
        self._ended_before = 0
        console = Console(stderr=True)
        self._is_shown = console.is_terminal
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[facts]}"),
            console=console,
            transient=transient,
            disable=not self._is_shown,
        )
        self._tasks = {name: self._bars.add_task(name, facts="") for name in self.facts()}
        self._is_over = Event()
        self._writer: Thread | None = None

    def add(self, name: str, *, episodes: int = 1, earlier: bool = False, **outcomes: int) -> None:
        """Count a player's episodes that were `won`, `lost` or `failed`. Negative numbers subtract.

        The time left leaves out episodes that an `earlier` command played.
        """
        self._rows[name].update(ended=episodes, **outcomes)
        self._ended_before += episodes * earlier
        self.show()

    def count(self, name: str, trajectory: Trajectory, *, earlier: bool = False) -> None:
        """Count an episode that has ended, as `add` does."""
        is_scored = trajectory.status != "failed"
        self.add(
            name,
            won=is_scored and trajectory.success,
            lost=is_scored and not trajectory.success,
            failed=not is_scored,
            earlier=earlier,
        )

    def show(self) -> None:
        """Redraw the bars."""
        if not self._is_shown:
            return
        for name, facts in self.facts().items():
            row = self._rows.get(name) or self._all()
            ended, total = row["ended"], row["total"]
            self._bars.update(self._tasks[name], completed=ended, total=total, facts=facts)

    def facts(self) -> dict[str, str]:
        """Return the numbers by name, such as `12 of 40 episodes, 5 won, 7 lost, 0:02:10 left`."""
        spent, together = self._spent(), self._all()
        parts = {name: _facts(row, spent.get(name)) for name, row in self._rows.items()}
        if len(parts) > 1:
            costs = [cost for cost in spent.values() if cost is not None]
            parts[_ALL] = _facts(together, sum(costs) if costs else None)
        if num_played := together["ended"] - self._ended_before:
            num_left = max(0, together["total"] - together["ended"])
            left = (self._clock() - self._began) / num_played * num_left
            next(reversed(parts.values())).append(f"{timedelta(seconds=round(left))} left")
        return {name: ", ".join(facts) for name, facts in parts.items()}

    def _all(self) -> Counter[str]:
        return sum(self._rows.values(), Counter())

    def __enter__(self) -> Self:
        self._bars.start()
        if not self._is_shown:
            self._writer = Thread(target=self._write_lines, daemon=True, name="progress")
            self._writer.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        if self._writer is not None:
            self._writer.join()  # no line is half written, or after what the caller writes
        self._bars.stop()

    def _write_lines(self) -> None:
        while not self._is_over.wait(LINE_SECONDS):
            for name, facts in self.facts().items():
                if len(self._rows) > 1 and name != _ALL:  # where several play, what is new
                    if self._lines.get(name) == facts:
                        continue
                    self._lines[name] = facts
                print(f"{name}: {facts}", file=sys.stderr, flush=True)


class FinishedEpisodes(dict[int, Trajectory]):
    """The finished episodes by their index in the list of tasks, in memory and in a file.

    Neither Ctrl-C nor a failure of the last episode loses hours of play and their cost.

    Args:
        path: the file; episodes that it already holds are read.
        options: a digest of the options that decide which episodes are played.
        max_outage: seconds that a full or unreachable disk is waited for.

    Raises:
        UsageError: the file holds episodes of other options.
    """

    def __init__(self, path: Path, options: str, *, max_outage: float = 0.0) -> None:
        super().__init__()
        self.path = path
        self._max_outage = max_outage
        self._options = options
        for record in map(json.loads, whole_lines(path)):
            if record.get("options") != options:
                raise UsageError(
                    f"{path} holds episodes that were played with other options; give these "
                    "again, or leave `resume` out"
                )
            super().__setitem__(record["place"], Trajectory.from_json(record))

    def __setitem__(self, place: int, trajectory: Trajectory) -> None:
        record = {"place": place, "options": self._options, **trajectory.to_json()}
        line = json.dumps(record).encode() + b"\n"

        def append() -> None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            append_whole(self.path, line)

        write_patiently(self.path, append, limit=self._max_outage)
        super().__setitem__(place, trajectory)


def is_unfinished(path: Path) -> bool:
    """Return whether a file holds the finished episodes of a command that has not ended."""
    return re.search(r"\.unfinished\d*\.jsonl$", path.name) is not None


def unfinished_file(path: Path, *, is_last: bool) -> Path:
    """Return an unused file name beside `path`, or the last used one.

    Raises:
        UsageError: there are 10,000 unfinished files.
    """
    names = (f"{path.stem}.unfinished{number}.jsonl" for number in ("", *range(2, 10_000)))
    last = None
    for file in map(path.with_name, names):
        if not file.exists() and not file.with_suffix(ANSWERS).exists():
            return last if is_last and last is not None else file
        last = file
    raise UsageError(f"there are too many unfinished files beside {path}; remove some")


class Watch:
    """Shows the progress of episodes, and keeps finished ones until the caller has written them.

    A context manager and a rollout's `on_trajectory`. Leaving it by an error prints where the
    episodes are.

    Args:
        name: the player's, before the bar.
        total: episodes to play.
        output_file: the file for all of them. Each episode is added, as it ends, to a file beside
            it, which stays until `forget`; None keeps nothing.
        resume: read the episodes that an earlier call has kept.
        options: the options that decide which episodes are played.
        ledger: of the policy's server; its answers are kept too.
        max_outage: seconds that a full or unreachable disk is waited for.

    Attributes:
        finished: a rollout's `finished`; None where nothing is kept.
    """

    def __init__(
        self,
        name: str,
        total: int,
        *,
        output_file: str | Path | None = None,
        resume: bool = False,
        options: Sequence[Any] = (),
        ledger: Ledger | None = None,
        max_outage: float = 0.0,
    ) -> None:
        self._ledger = ledger
        self._max_outage = max_outage
        self._name = name
        self._progress = EpisodeProgress(
            {name: total}, spent=None if ledger is None else lambda: {name: ledger.spent}
        )
        self.finished: FinishedEpisodes | None = None
        if output_file is not None:
            digest = sha256(repr(options).encode()).hexdigest()[:16]
            path = _unfinished_file_of(Path(output_file), resume=resume)
            self.finished = FinishedEpisodes(path, digest, max_outage=max_outage)
            if ledger is not None:
                ledger.keep_in(self.finished.path.with_suffix(ANSWERS))
            for trajectory in self.finished.values():
                self._progress.count(name, trajectory, earlier=True)

    def __call__(self, trajectory: Trajectory) -> None:
        """Count an episode that has ended."""
        self._progress.count(self._name, trajectory)

    def write(self, path: str | Path, work: Callable[[], Result]) -> Result:
        """Write the played episodes, and wait for a disk that is full or out of reach."""
        return write_patiently(path, work, limit=self._max_outage)

    def forget(self) -> None:
        """Remove the files of episodes and answers, once the caller has written them all."""
        if self.finished is not None:
            self.finished.path.unlink(missing_ok=True)
            self.finished.clear()
        if self._ledger is not None:
            self._ledger.forget()

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_traceback: object
    ) -> None:
        """End the bar, and print where the finished episodes are.

        Raises:
            SystemExit: with status 75, if the disk is full or out of reach.
        """
        self._progress.__exit__()
        is_full = error is not None and is_storage_failure(error)
        if is_full:
            print(f"agentgym: the disk took no more: {masked(str(error))}", file=sys.stderr)
        spent = (self._ledger.spent if self._ledger is not None else None) or 0.0
        if self.finished or (self.finished is not None and spent and kind is not None):
            cost = f", and the answers that have cost {spent:.4g}" * bool(spent)
            print(
                f"{counted(len(self.finished), 'episode')} had ended, kept in {self.finished.path}"
                f"{cost}. The same command with --resume plays the others",
                file=sys.stderr,
            )
        if is_full:
            raise SystemExit(BROKEN_OFF) from error


def _unfinished_file_of(path: Path, *, resume: bool) -> Path:
    """Return the file for finished episodes beside `path`."""
    earlier, new = (unfinished_file(path, is_last=is_last) for is_last in (True, False))
    if not resume and earlier != new:
        print(
            f"{earlier} keeps what an earlier call played; --resume would go on with it, and this "
            "call plays all again",
            file=sys.stderr,
        )
    if resume and earlier == new and path.exists():
        raise UsageError(
            f"{path} is finished, so there is nothing to resume; leave `resume` out to play again"
        )
    return earlier if resume else new
