"""Keeps the finished episodes of a command in a file until all of them are written.

Hours of play, and what was paid for it, must not be lost to Ctrl-C or to the last episode.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from agentgym_envs.files import append_whole, whole_lines
from agentgym_envs.trajectory import Trajectory
from trainers.options.errors import UsageError
from trainers.runs.disk import write_patiently

ANSWERS = ".answers"
"""The suffix of the file of a server's answers, beside that of the episodes."""


class FinishedEpisodes(dict[int, Trajectory]):
    """The finished episodes by their place in the list of tasks, in memory and in a file.

    Args:
        path: the file; what it holds is taken in.
        max_outage: seconds that a full or unreachable disk is waited for.
        options: a digest of what decides which episodes are played; a file of others is refused.

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
                    "again, or leave --resume out"
                )
            super().__setitem__(record["place"], Trajectory.from_json(record))

    def __setitem__(self, place: int, trajectory: Trajectory) -> None:
        record = {"place": place, "options": self._options, **trajectory.to_json()}
        line = json.dumps(record).encode() + b"\n"

        def append() -> None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            append_whole(self.path, line)

        write_patiently(str(self.path), append, limit=self._max_outage)
        super().__setitem__(place, trajectory)


def is_unfinished(path: Path) -> bool:
    """Return whether a file keeps the finished episodes of a command that goes on."""
    return re.search(r"\.unfinished\d*\.jsonl$", path.name) is not None


def unfinished_file(path: Path, *, is_last: bool) -> Path:
    """Return an unused file name beside `path`, or the last one that is used."""
    names = (f"{path.stem}.unfinished{number}.jsonl" for number in ("", *range(2, 10_000)))
    last = None
    for file in map(path.with_name, names):
        if not file.exists() and not file.with_suffix(ANSWERS).exists():
            return last if is_last and last is not None else file
        last = file
    raise UsageError(f"there are too many unfinished files beside {path}; remove some")
