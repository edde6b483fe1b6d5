"""A small disk that can be filled."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@contextmanager
def small_disk() -> Iterator[Path]:
    """Mount a file system of 64 MB in memory, which takes an administrator."""
    with TemporaryDirectory(prefix="agentgym-disk-") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder]
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            pytest.skip("a file system can be mounted by an administrator only")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def fill(disk: Path) -> Path:
    """Fill a disk to its last byte; without the file that is returned it has space again."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    return filler
