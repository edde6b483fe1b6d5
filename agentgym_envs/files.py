"""Writes files whole or not at all, and reads them compressed or plain."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from uuid import uuid4

COMPRESSED = ".gz"
"""The end of a compressed file's name."""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a file beside `path` to write to, which takes its place when all has gone well.

    A reader, or a kill, finds the old file or the new one. What is not a regular file, such as
    `/dev/stdout`, is written to directly.

    Args:
        path: the file; its folder is made.
    """
    target = Path(path).resolve()  # a link stays one
    if target.exists() and not target.is_file():
        yield target
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own: another process may be writing the same file.
    unfinished = target.with_name(f"{target.name}.{uuid4().hex}.tmp")
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a kill, finds the old content or the new one.

    Args:
        path: the file; its folder is made.
        content: text is written as UTF-8.
    """
    with replacing(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


def open_bytes(path: str | Path) -> gzip.GzipFile | BufferedReader:
    """Open a file to read its bytes, decompressed where its name ends with `.gz`."""
    path = Path(path)
    return gzip.open(path, "rb") if path.suffix == COMPRESSED else path.open("rb")


def open_text(path: str | Path) -> TextIOWrapper:
    """Open a file to read its text, as `open_bytes` does its bytes."""
    return TextIOWrapper(open_bytes(path), encoding="utf-8")
