"""Runs parts one after the other, each in a process of its own that is ended at its limit.

A part that fails or takes too long is a line of the report; the others go on.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lab import processes
from lab.gpu.parts import LONGEST, Part
from lab.gpu.records import WORK, Record, Status, read_record, write_record
from lab.processes import Child, with_checkout

LOG = "log.txt"
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
_ERROR = re.compile(r"\b\w+(?:Error|Exception|Interrupt)\b(?::|$)")


def run_parts(
    parts: Sequence[Part], folder: Path, *, small: bool, seconds: float | None = None
) -> list[Record]:
    """Run the parts that are not done yet: those that never ran first, then those that failed.

    Args:
        parts: which.
        folder: of the records, the logs and what the parts make.
        small: run at the size of a rehearsal.
        seconds: that all of them may take together. A part that is then under way is ended and
            counts as never run; the next call begins with it.

    Returns:
        The records of all parts that have one.
    """
    end = None if seconds is None else time.monotonic() + seconds
    records = {part.name: read_record(folder, part.name) for part in parts}
    waiting = [part for part in parts if not _is_done(records[part.name], small=small)]
    waiting.sort(key=lambda part: _has_failed(records[part.name]))
    print(f"{len(parts) - len(waiting)} of {len(parts)} parts are done", flush=True)
    for part in waiting:
        limit = LONGEST if small else part.seconds  # nobody knows how busy a CPU is
        left = limit if end is None else end - processes.GRACE - time.monotonic()
        if left <= 0:
            print("the time is up; the same command goes on with what is left", flush=True)
            break
        record = run_part(part, folder, small=small, seconds=min(limit, left))
        if record.status == Status.TIMED_OUT and left < limit:
            record.status = Status.RUNNING
            record.reason = "the command's time was up; the same command goes on"
            write_record(folder, record)
        records[part.name] = record
        reason = f": {record.reason}" if record.reason else ""
        print(f"{part.name}: {record.status} in {record.seconds:.0f} s{reason}", flush=True)
    return [record for record in records.values() if record is not None]


def _is_done(record: Record | None, *, small: bool) -> bool:
    return record is not None and record.is_done(small=small)


def _has_failed(record: Record | None) -> bool:
    return record is not None and record.status in (Status.FAILED, Status.TIMED_OUT)


def run_part(part: Part, folder: Path, *, small: bool, seconds: float) -> Record:
    """Run one part and return its record, which is also written.

    Args:
        part: which.
        folder: of all parts.
        small: run at the size of a rehearsal.
        seconds: after which it is ended.
    """
    reason = part.reason_to_skip
    if reason is not None:
        record = Record(part.name, small, Status.SKIPPED, reason)
        write_record(folder, record)
        return record
    print(f"{part.name}: {part.purpose} ...", flush=True)
    write_record(folder, Record(part.name, small))  # what an earlier run has measured is gone
    log = folder / WORK / part.name / LOG
    log.parent.mkdir(parents=True, exist_ok=True)
    size = "small" if small else "full"
    words = (part.name, part.target, str(folder.resolve()), size)
    start = time.monotonic()
    command = [sys.executable, "-m", "lab.gpu.child", *words]
    with Child(command, log=log, environ={**_OFFLINE, **with_checkout()}) as child:
        code = child.wait(seconds)
    record = read_record(folder, part.name) or Record(part.name, small)
    record.seconds = round(time.monotonic() - start, 1)
    record.status = Status.DONE if code == 0 else Status.FAILED
    if code is None:
        record.status, record.reason = Status.TIMED_OUT, f"ended after {seconds:.0f} s"
    elif code:
        record.reason = f"{_cause(log)} ({child.ending}; {log})"
    write_record(folder, record)
    return record


def _cause(log: Path) -> str:
    """Return the log's last error, or its last line. Warnings may follow an error."""
    lines = log.read_text("utf-8", errors="replace").strip().splitlines() or ["it printed nothing"]
    return next(filter(_ERROR.search, reversed(lines)), lines[-1])[:200]
