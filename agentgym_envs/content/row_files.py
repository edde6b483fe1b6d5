"""Reads users' files of rows: JSON lines, a JSON list, one JSON object or Parquet.

All but Parquet may be compressed.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import COMPRESSED, open_text

PARQUET = ".parquet"
DOCUMENT = ".json"
"""The end of the name of a file that may hold one object, over several lines."""


def read_rows(path: str | Path, *, keep_bad_lines: bool = False) -> Iterator[Any]:
    """Yield the rows of a file of JSON lines, of a JSON list, of one object, or of Parquet.

    Args:
        path: the file.
        keep_bad_lines: yield the error in place of a line that is not JSON, and go on.

    Raises:
        ValueError: a line is not JSON, or the file is damaged; the message names it.
        ImportError: Parquet needs `pyarrow`.
    """
    path = Path(path)
    if path.suffix == PARQUET:
        yield from _parquet_rows(path)
        return
    with _naming_damage(path):
        for row in _json_rows(path):
            if isinstance(row, ValueError) and not keep_bad_lines:
                raise row
            yield row


def first_row(path: str | Path) -> Any:
    """Return the first row of a file, or None where it has none that is JSON.

    Raises:
        ValueError: the file is damaged; the message names it.
        ImportError: Parquet needs `pyarrow`.
    """
    path = Path(path)
    if path.suffix == PARQUET:
        return next(_parquet_rows(path), None)
    with _naming_damage(path), open_text(path) as file:
        text = next((line for line in file if line.strip()), "").lstrip()
        if text.startswith("[") or is_document(path):
            text += file.read()
    try:
        return json.JSONDecoder().raw_decode(text.removeprefix("[").lstrip())[0]
    except (ValueError, RecursionError):
        return None


@contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    """Turn the errors of a damaged file into a `ValueError` that names it."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not compressed, cut short, or not UTF-8 ({error})") from error


def is_document(path: Path) -> bool:
    """Return whether a file, by its name, may hold one object over several lines."""
    return path.name.removesuffix(COMPRESSED).endswith(DOCUMENT)


def _json_rows(path: Path) -> Iterator[Any]:
    with open_text(path) as file:
        first = next((line for line in file if line.strip()), "")
        if first.lstrip().startswith("["):
            entries = _parsed(first + file.read(), str(path))
            if isinstance(entries, ValueError):
                raise entries
            yield from entries
            return
        if is_document(path) and isinstance(_parsed(first, ""), ValueError):
            yield _parsed(first + file.read(), str(path))
            return
        for number, line in enumerate(chain([first], file), 1):
            if line.strip():
                yield _parsed(line, f"{path}, line {number}")


def _parsed(text: str, where: str) -> Any:
    """Return the value of a JSON text, or the error that names its fault."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return ValueError(f"{where}: not JSON ({error})")


def _parquet_rows(path: Path) -> Iterator[Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(f"{path} needs pyarrow: pip install pyarrow") from error
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from batch.to_pylist()
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path}: not Parquet ({error})") from error
