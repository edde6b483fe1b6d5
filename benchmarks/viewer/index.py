"""The index of all episodes under a folder, which grows while runs write.

Keeps one light entry per episode and where its line lies; a line is parsed once, and read again
when its episode is opened.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any

from agentgym_envs.actions import strip_thinking
from agentgym_envs.content.files import open_bytes
from agentgym_envs.content.row_files import is_document
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.names import short_names
from benchmarks.viewer.entries import (
    FIELDS,
    Entry,
    NotEpisode,
    NotJSON,
    make_entry,
    read_episodes,
    searchable_texts,
)
from benchmarks.viewer.runs import EpisodeFile, FolderContent, Run, read_folder

LINES_OF_OTHERS = 8
"""Lines of other JSON with which a lone file counts as no file of episodes."""
STILL_WRITTEN_S = 30.0
"""For so long after its last change a file may lack its end, for it may still be written."""
MOST_PROBLEMS = 200
"""Problems listed on the page. Others are counted."""
LONGEST_LINE = 1 << 25
"""Bytes of a line that is read. An episode with its tokens has a few percent of it."""
_LINES_BETWEEN_LOOKS_AT_THE_CLOCK = 32
_Bytes = gzip.GzipFile | BufferedReader
_CUT_SHORT = (EOFError, gzip.BadGzipFile, zlib.error)


@dataclass
class _Progress:
    """The read position of a file.

    Attributes:
        number: of the file; None until it is known to hold episodes.
        state: size and time of change when it was last read to its end.
        last: the start of the last line read, and its checksum.
        is_open: the last line has no end yet.
        is_other: it holds something else.
        bad: lines before the first episode that are none: file, number and problem.
    """

    number: int | None = None
    state: tuple[int, int] | None = None
    offset: int = 0
    lines: int = 0
    last: tuple[int, int] = (0, 0)
    is_open: bool = False
    is_other: bool = False
    bad: list[tuple[str, int, str]] = field(default_factory=list)


class Index:
    """The episodes under a folder, or of one file.

    Numbers of episodes, files and runs are stable within an `epoch`. Where a file that was read is
    found to be another one, the next epoch begins and all is read again.

    Raises:
        ValueError: `root` does not exist.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        if not self.root.exists():
            raise ValueError(f"there is no {self.root}; name the folder of a run or of a sweep")
        self.epoch = 0
        self._lock = threading.RLock()
        self._forget()

    def update(self, budget_s: float | None = None) -> bool:
        """Read the lines that were written since the last call. True once nothing is left to read.

        `budget_s` bounds the seconds.
        """
        deadline = None if budget_s is None else time.monotonic() + budget_s
        with self._lock:
            content = read_folder(self.root)
            removed = set(self._file_problems) - {file.name for file in content.files}
            for name in removed:
                del self._file_problems[name]
            if self._is_stale(content):
                self.epoch += 1
                self._forget()
            self._forget_replaced(content)
            self._list_runs(content.runs)
            for file in content.files:
                if not self._read(file, deadline):
                    return False
            return True

    def to_json(self, start: int = 0) -> dict[str, Any]:
        """Return the entries from one on, and all runs and files, as JSON values."""
        with self._lock:
            runs = {run.name: number for number, run in enumerate(self.runs)}
            run_policies = (run.policy for run in self.runs)
            policies = short_names([name for name in (*self._policies, *run_policies) if name])
            return {
                "epoch": self.epoch,
                "root": str(self.root.resolve().name),
                "policies": policies,
                "runs": [run.to_json(policies) for run in self.runs],
                "files": [[f.name, runs[f.run.name], f.phase] for f in self.files],
                "fields": FIELDS,
                "start": start,
                "rows": [entry.row() for entry in self.entries[start:]],
                "problems": self.problems[:MOST_PROBLEMS],
                "num_problems": len(self.problems),
            }

    @property
    def problems(self) -> list[str]:
        """The problems of files and lines, a sentence each."""
        with self._lock:
            run_problems = [f"{run.name}: {run.problem}" for run in self.runs if run.problem]
            file_problems = [
                f"{name}: {problem}"
                for name, (changed, problem) in self._file_problems.items()
                if time.time() - changed > STILL_WRITTEN_S
            ]
            line_problems = [
                f"{name}, line {n}: {problem}" for name, n, problem in self._line_problems
            ]
            return [*run_problems, *file_problems, *line_problems]

    def record(self, number: int) -> dict[str, Any]:
        """Return an episode's JSON values without its tokens, or raise LookupError."""
        try:
            record = self._record(self.entry(number))
        except (ValueError, IndexError) as error:
            raise LookupError(
                f"episode {number} is no longer where it was; load the page again"
            ) from error
        turns = [{"action": strip_thinking(turn["completion"]), **turn} for turn in record["turns"]]
        return {**record, "turns": turns, "traces": []}

    def trajectory(self, number: int) -> Trajectory:
        """Return an episode with its tokens, or raise LookupError."""
        try:
            return Trajectory.from_json(self._record(self.entry(number), with_tokens=True))
        except (TypeError, ValueError, IndexError) as error:
            raise LookupError(f"episode {number} cannot be read ({error})") from error

    def folder(self, number: int) -> Path:
        """Return the folder of the run that an episode belongs to."""
        return self.files[self.entry(number).file].run.folder

    def view(self, number: int, make: Callable[[Trajectory, Path], Any]) -> Any:
        """Return a view of an episode and its run's folder, None where it cannot be read."""
        try:
            return make(self.trajectory(number), self.folder(number))
        except LookupError:
            return None

    def search(self, text: str) -> list[int]:
        """Return the numbers of the episodes in which a text occurs, in whatever case."""
        folded = text.casefold()
        # Most lines are passed over unparsed; case folding beyond ASCII has to see the characters.
        plain = json.dumps(text)[1:-1].lower().encode() if text.isascii() else b""
        with self._lock:
            entries = list(self.entries)
        numbers = []
        for number, line in enumerate(self._lines(entries)):
            if plain not in line.lower():
                continue
            try:
                record = read_episodes(line)[entries[number].part]
            except (ValueError, IndexError):  # its file has changed since
                continue
            if any(folded in part.casefold() for part in searchable_texts(record)):
                numbers.append(number)
        return numbers

    def _forget(self) -> None:
        self.entries: list[Entry] = []
        self.files: list[EpisodeFile] = []
        self.runs: list[Run] = []
        self._line_problems: list[tuple[str, int, str]] = []
        self._file_problems: dict[str, tuple[float, str]] = {}
        self._policies: dict[str, None] = {}
        self._progress: dict[str, _Progress] = {}

    def _is_stale(self, content: FolderContent) -> bool:
        present = {file.name: file for file in content.files}
        return any(
            name not in present or _was_replaced(present[name].path, progress)
            for name, progress in self._progress.items()
            if progress.number is not None
        )

    def _forget_replaced(self, content: FolderContent) -> None:
        """Forget files without episodes that are replaced or gone."""
        present = {file.name: file for file in content.files}
        replaced = {
            name
            for name, progress in self._progress.items()
            if progress.number is None
            and (name not in present or _was_replaced(present[name].path, progress))
        }
        for name in replaced:
            del self._progress[name]
        self._line_problems = [line for line in self._line_problems if line[0] not in replaced]

    def _list_runs(self, runs: list[Run]) -> None:
        # A run's facts may have grown; its number stays.
        numbers = {run.name: number for number, run in enumerate(self.runs)}
        for run in runs:
            if run.name in numbers:
                self.runs[numbers[run.name]] = run
            else:
                self.runs.append(run)

    def _read(self, file: EpisodeFile, deadline: float | None) -> bool:
        """Read a file's new lines. False where the deadline passed before its end."""
        progress = self._progress.setdefault(file.name, _Progress())
        state = _state(file.path)
        if progress.is_other or progress.state == state or state is None:
            return True
        self._file_problems.pop(file.name, None)
        try:
            if not self._read_lines(file, progress, deadline):
                return False
        except OSError as error:
            self._note(file, f"it cannot be read ({error.strerror or error})")
        if state[0] == 0:
            self._note(file, "it is empty")
        progress.state = state
        return True

    def _read_lines(self, file: EpisodeFile, progress: _Progress, deadline: float | None) -> bool:
        with open_bytes(file.path) as stream:
            stream.seek(progress.offset)
            if progress.is_open and stream.read(1) == b"\n":
                progress.offset += 1
            stream.seek(progress.offset)
            for count, line in enumerate(self._whole_lines(stream, file), 1):
                is_open = not line.endswith(b"\n")
                if len(line) >= LONGEST_LINE and is_open:
                    progress.lines += 1
                    progress.offset += len(line) + _skip_line(stream)
                    problem = f"it is longer than {LONGEST_LINE >> 20} MiB"
                    self._line_problems.append((file.name, progress.lines, problem))
                    continue
                if is_open and _is_cut(line, file):
                    self._note(file, "its last line has no end")
                    break
                progress.is_open = is_open
                self._take_in(file, progress, line)
                if progress.is_other:
                    return True
                is_time_to_look = count % _LINES_BETWEEN_LOOKS_AT_THE_CLOCK == 0
                if is_time_to_look and deadline is not None and time.monotonic() > deadline:
                    return False
        return True

    def _note(self, file: EpisodeFile, problem: str) -> None:
        """Record a file's problem and the time of its last change."""
        state = _state(file.path)
        self._file_problems[file.name] = (0.0 if state is None else state[1] / 1e9), problem

    def _take_in(self, file: EpisodeFile, progress: _Progress, line: bytes) -> None:
        offset = progress.offset
        progress.offset += len(line)
        progress.lines += 1
        progress.last = offset, zlib.crc32(line)
        try:
            records = read_episodes(line)
        except ValueError as error:
            if line.strip():
                progress.bad.append((file.name, progress.lines, str(error)))
            may_be_other = progress.number is None and file.run.kind == "file"
            if may_be_other and not isinstance(error, NotJSON | NotEpisode):
                progress.is_other = len(progress.bad) >= LINES_OF_OTHERS
            else:
                self._line_problems += progress.bad
                progress.bad.clear()
            return
        self._line_problems += progress.bad
        progress.bad.clear()
        if progress.number is None:
            progress.number = len(self.files)
            self.files.append(file)
        place = {"file": progress.number, "number": progress.lines, "offset": offset}
        for part, record in enumerate(records):
            entry = make_entry(record, line, part=part, **place)
            self.entries.append(entry)
            self._policies[entry.policy] = None

    def _whole_lines(self, stream: _Bytes, file: EpisodeFile) -> Iterator[bytes]:
        """Yield a file's lines, the complete ones of a compressed file that is being written.

        A document is one line, whatever lines it has.
        """
        try:
            if is_document(file.path):
                if document := stream.read(LONGEST_LINE):
                    yield document
                return
            while line := stream.readline(LONGEST_LINE):
                yield line
        except _CUT_SHORT as error:
            self._note(file, f"it is not compressed, or cut short ({error})")

    def entry(self, number: int) -> Entry:
        """Return an episode's entry, or raise LookupError."""
        if not 0 <= number < len(self.entries):
            raise LookupError(f"there is no episode {number}; there are {len(self.entries)}")
        return self.entries[number]

    def _record(self, entry: Entry, *, with_tokens: bool = False) -> dict[str, Any]:
        line = next(self._lines([entry]))
        return read_episodes(line, with_tokens=with_tokens)[entry.part]

    def _lines(self, entries: list[Entry]) -> Iterator[bytes]:
        """Yield each entry's line, empty where the file is gone."""
        start = 0
        while start < len(entries):
            end = start
            while end < len(entries) and entries[end].file == entries[start].file:
                end += 1
            try:
                with open_bytes(self.files[entries[start].file].path) as stream:
                    for entry in entries[start:end]:
                        stream.seek(entry.offset)
                        yield stream.read(entry.length)
            except (OSError, *_CUT_SHORT):
                yield from [b""] * (end - start)
            start = end


def _skip_line(stream: _Bytes) -> int:
    """Read to a line's end without keeping it, and return how many bytes that were."""
    length = 0
    while part := stream.readline(1 << 20):
        length += len(part)
        if part.endswith(b"\n"):
            break
    return length


def _state(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:  # moved away between the listing and now
        return None
    return stat.st_size, stat.st_mtime_ns


def _was_replaced(path: Path, progress: _Progress) -> bool:
    """Return whether the line that was read last is no longer in its place."""
    state = _state(path)
    if state is None or state == progress.state:
        return state is None
    start, checksum = progress.last
    try:
        with open_bytes(path) as stream:
            stream.seek(start)
            return zlib.crc32(stream.read(progress.offset - start)) != checksum
    except (OSError, *_CUT_SHORT):
        return True


def _is_cut(line: bytes, file: EpisodeFile) -> bool:
    """Return whether a last line without its end lacks more than that."""
    try:
        read_episodes(line)
    except ValueError as error:
        return isinstance(error, NotJSON) or not is_document(file.path)
    return False
