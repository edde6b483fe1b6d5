"""Writes files and folders atomically, and reads them compressed or plain."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import gzip
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from uuid import uuid4

COMPRESSED = ".gz"
"""The end of a compressed file's name."""

_STORAGE = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM),
        *(errno.EIO, errno.ESTALE, errno.ENXIO, errno.ENODEV, errno.ENOTDIR),
    }
)


CACHE_VARIABLE = "AGENTGYM_CACHE"


def cache_folder(name: str) -> Path:
    """Return the cache folder of one part of the suite, which may not exist yet.

    It is in `$AGENTGYM_CACHE`, else in `agentgym-envs` where the platform has caches.

    Args:
        name: the part's, such as `"searchqa"`.
    """
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser() / name
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "agentgym-envs" / name


class StorageFailure(OSError):
    """A disk is full, read-only or gone, whatever a library raises for it."""


def is_storage_failure(error: BaseException) -> bool:
    """Return whether an error says that a disk is full, read-only or gone."""
    is_known = isinstance(error, OSError) and error.errno in _STORAGE
    return is_known or isinstance(error, StorageFailure)


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Give a file beside `path` to write to, which takes its place when all has gone well.

    A reader, or a kill, finds the old file or the new one. What a killed writer has left beside it
    is removed. What is not a regular file, such as `/dev/stdout`, is written to directly.

    Args:
        path: the file; its folder is made.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        yield target
        return
    target = target.resolve()  # a link stays one
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f"{glob.escape(target.name)}.{'[0-9a-f]' * 32}.tmp"):
        _remove_unless_locked(left)
    # A name of its own: another process may be writing the same file. The lock ends with the
    # process, however that ends.
    unfinished = target.with_name(f"{target.name}.{uuid4().hex}.tmp")
    try:
        with unfinished.open("xb") as held:
            with contextlib.suppress(OSError):  # some disks of other machines have no locks
                fcntl.flock(held, fcntl.LOCK_SH)
            yield unfinished
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _remove_unless_locked(path: Path) -> None:
    with contextlib.suppress(OSError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Give a folder beside `path` to write to, which gets its name when all has gone well.

    Args:
        path: the folder, which is not there yet; those above it are made. A draft that a kill
            leaves behind is named as `temporary_siblings` finds it.

    Raises:
        OSError: nothing can be written there, or another process has made the folder meanwhile.
    """
    path = Path(path)
    draft = path.with_name(f"{_draft_prefix(path)}{uuid4().hex}")
    try:
        draft.mkdir(parents=True)
        yield draft
        draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def temporary_siblings(path: str | Path) -> list[Path]:
    """Return the drafts of a folder: of those who are making it, and of those who were killed."""
    path = Path(path)
    return sorted(path.parent.glob(f"{glob.escape(_draft_prefix(path))}*"))


def _draft_prefix(path: Path) -> str:
    return f".{path.name}-"


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a kill, finds the old content or the new one.

    Args:
        path: the file; its folder is made.
        content: text is written as UTF-8.
    """
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


def append_whole(path: str | Path, content: bytes) -> None:
    """Append to a file, which is left as it was where the disk is full.

    Args:
        path: the file; it is made, its folder is not.
        content: what is appended.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        length = os.fstat(descriptor).st_size
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            os.ftruncate(descriptor, length)
            raise
    finally:
        os.close(descriptor)


def end_last_line(path: Path) -> None:
    """End a file's last line, so that appended text begins a line of its own."""
    if not path.is_file() or path.stat().st_size == 0:
        return
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            file.write(b"\n")


def whole_lines(path: str | Path) -> list[bytes]:
    """Return a file's lines, without half a last line that a kill may have left.

    Args:
        path: the file; where there is none, there are no lines.
    """
    path = Path(path)
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        os.truncate(path, len(whole))
    return whole.splitlines()


def open_bytes(path: str | Path) -> gzip.GzipFile | BufferedReader:
    """Open a file to read its bytes, decompressed where its name ends with `.gz`."""
    path = Path(path)
    return gzip.open(path, "rb") if path.suffix == COMPRESSED else path.open("rb")


def open_text(path: str | Path) -> TextIOWrapper:
    """Open a file to read its text, as `open_bytes` does its bytes, without a byte-order mark."""
    return TextIOWrapper(open_bytes(path), encoding="utf-8-sig")
