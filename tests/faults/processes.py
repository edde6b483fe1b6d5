"""The processes of a run, by what they are."""

from __future__ import annotations

import os
import signal
from pathlib import Path

KINDS = {
    "worker": b"vector/worker.py",
    "actor": b"ray::EnvActor",
    "java": b"java-runtime/bin/java",
    "chromium": b"chromium",
    "spawned": b"spawn_main",
}
"""Words of their command lines."""


def descendants(pid: int) -> list[int]:
    """Return the processes that one has started, and those that they have."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children += map(int, task.read_text().split())
        except OSError:
            continue  # it has ended
    return [*children, *(below for child in children for below in descendants(child))]


def of_kind(kind: str, pid: int) -> list[int]:
    """Return a run's workers, actors, Javas or browsers that are alive."""
    found = []
    for one in descendants(pid):
        try:
            if KINDS[kind] in Path(f"/proc/{one}/cmdline").read_bytes():
                found.append(one)
        except OSError:
            continue
    return found


def hit(pid: int, number: int) -> bool:
    """Send a process a signal; False where it has ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def kill(pid: int) -> bool:
    """End a process at once."""
    return hit(pid, signal.SIGKILL)


def stop(pid: int) -> bool:
    """Let a process hang."""
    return hit(pid, signal.SIGSTOP)
