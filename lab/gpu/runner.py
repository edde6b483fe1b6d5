"""Runs parts one after the other, each in a process of its own that is ended at its limit.

A part that fails or takes too long is a line of the report; the others go on.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agentgym_envs.exits import exit_in_words
from lab.gpu.parts import LONGEST, Part
from lab.gpu.records import WORK, Record, Status, read_record, write_record

LOG = "log.txt"
GRACE = 20.0
"""Seconds between SIGTERM, at which a trainer writes a checkpoint, and SIGKILL."""
_ROOT = Path(__file__).parents[2]
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
        left = limit if end is None else end - GRACE - time.monotonic()
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
    with log.open("a", encoding="utf-8") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "lab.gpu.child", *words],
            stdout=file,
            stderr=subprocess.STDOUT,
            env=_environment(),
            start_new_session=True,  # so that all that it starts is ended with it
        )
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end_group(process)
    record = read_record(folder, part.name) or Record(part.name, small)
    record.seconds = round(time.monotonic() - start, 1)
    record.status = Status.DONE if code == 0 else Status.FAILED
    if code is None:
        record.status, record.reason = Status.TIMED_OUT, f"ended after {seconds:.0f} s"
    elif code:
        record.reason = f"{_cause(log)} ({exit_in_words(code)}; {log})"
    write_record(folder, record)
    return record


def _environment() -> dict[str, str]:
    """Return the process's own environment, without a network, and with this checkout in front."""
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    offline = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    return {**os.environ, **offline, "PYTHONPATH": path}


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, and all that is left of the group.

    Args:
        process: started with `start_new_session=True`; it may have ended.
    """
    end = time.monotonic() + GRACE
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    # The leader ends at once, and not the trainer that it has started, which writes a checkpoint.
    while _is_alive(process) and time.monotonic() < end:
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _is_alive(process: subprocess.Popen[bytes]) -> bool:
    """Return whether any process of the group that this one leads is left."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _cause(log: Path) -> str:
    """Return the last error that a log tells, else its last line: warnings may follow an error."""
    lines = log.read_text("utf-8", errors="replace").strip().splitlines() or ["it printed nothing"]
    return next(filter(_ERROR.search, reversed(lines)), lines[-1])[:200]
