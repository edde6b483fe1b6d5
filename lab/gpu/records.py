"""The record of each part: one JSON file in the folder, written while the part runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from lab.gpu.parts import PARTS, Part, Reading
from trainers.runs.folder import read_json, write_json

RECORDS = "parts"
WORK = "work"
SHARED = "shared"


class Status(StrEnum):
    """The state of a part."""

    RUNNING = "running"
    """It has not, or was ended with the command that ran it."""
    DONE = "done"
    SKIPPED = "skipped"
    """Something that it needs is not installed."""
    TIMED_OUT = "timed out"
    FAILED = "failed"


@dataclass
class Record:
    """The record of a part's run.

    Attributes:
        part: its name.
        small: it ran at the size of a rehearsal.
        status: how it ended.
        reason: why, where it is not done.
        seconds: that it took, with its process's start.
        machine: where it ran; empty until its process has looked.
        readings: what it has measured so far.
    """

    part: str
    small: bool
    status: Status = Status.RUNNING
    reason: str = ""
    seconds: float = 0.0
    machine: dict[str, Any] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)

    def is_done(self, *, small: bool) -> bool:
        """It need not run again at this size."""
        return self.status == Status.DONE and self.small == small


def record_path(folder: Path, part: str) -> Path:
    """Return the file of a part's record."""
    return folder / RECORDS / f"{part}.json"


def write_record(folder: Path, record: Record) -> None:
    """Write a part's record."""
    path = record_path(folder, record.part)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, asdict(record))


def read_record(folder: Path, part: str) -> Record | None:
    """Return a part's record, or None if it never ran."""
    stored = read_json(record_path(folder, part))
    if not stored:
        return None
    readings = [Reading(**reading) for reading in stored.pop("readings")]
    return Record(**{**stored, "status": Status(stored["status"])}, readings=readings)


def records_of(folder: Path) -> Iterator[tuple[Part, Record]]:
    """Yield the parts that have ever run, with their records."""
    for name, part in PARTS.items():
        record = read_record(folder, name)
        if record is not None:
            yield part, record
