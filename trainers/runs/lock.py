"""A run's folder has one owner at a time."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

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
    descriptor = _locked(path)
    try:
        owner = {
            "command": command,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            os.truncate(descriptor, 0)
            os.write(descriptor, json.dumps(owner).encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one before may have removed the file meanwhile: another one is there now.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
            os.close(descriptor)
        except BlockingIOError:
            owner = _owner(path)
            os.close(descriptor)
            raise UsageError(
                f"{path.parent} is held by {owner}; wait until it has ended, or choose another "
                "folder"
            ) from None
        except BaseException:
            os.close(descriptor)
            raise


def _owner(path: Path) -> str:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return (
            f"`agentgym {owner['command']}` (process {owner['pid']} on {owner['host']}, since "
            f"{owner['since']})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
