"""A run's folder has one owner at a time."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from trainers.options.errors import UsageError

LOCK_FILE = "run.lock"


@contextmanager
def holding(folder: str | Path, command: str) -> Iterator[None]:
    """Hold a folder, until the block or the process ends, however it ends.

    Args:
        folder: the run's; it is made.
        command: who holds it, for the message that others get.

    Raises:
        UsageError: another process holds it; the message names it.
    """
    path = Path(folder) / LOCK_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    # A soft lock would outlive a process that is killed.
    lock = FileLock(path, timeout=0, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(
            f"{path.parent} is held by {_owner(path)}; wait until it has ended, or choose another "
            "folder"
        ) from None
    try:
        _write_owner(path, command)
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def _write_owner(path: Path, command: str) -> None:
    owner = {
        "command": command,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        path.write_text(json.dumps(owner), encoding="utf-8")  # in place: the file is the lock
    except OSError as error:  # a full disk names no file
        raise OSError(error.errno, error.strerror, str(path)) from error


def _owner(path: Path) -> str:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return (
            f"`agentgym {owner['command']}` (process {owner['pid']} on {owner['host']}, since "
            f"{owner['since']})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
