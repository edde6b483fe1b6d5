"""Reads single lines of a large JSONL file without reading the rest."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]

_CHUNK_BYTES = 1 << 24


class JsonLines:
    """The JSON objects of a file by line number, from 0, without blank lines.

    Where the lines begin is found at the first use. Each access opens the file, so threads and
    forked processes may share one.

    Args:
        path: the file.
        starts: where its lines begin, if that is known already.
    """

    def __init__(self, path: Path, starts: Sequence[int] | Offsets | None = None) -> None:
        self.path = path
        self._known_starts = starts

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._starts)

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return one line's object.

        Raises:
            IndexError: there is no such line.
            ValueError: the line is not a JSON object.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"{self.path} has {len(self)} lines; there is no line {number}")
        with self.path.open("rb") as file:
            file.seek(int(self._starts[number]))
            return parse_line(file.readline(), f"{self.path}, object {number}")

    @cached_property
    def _starts(self) -> Sequence[int] | Offsets:
        return line_starts(self.path) if self._known_starts is None else self._known_starts


def parse_line(line: bytes, where: str) -> dict[str, Any]:
    """Return the JSON object of a line.

    Args:
        line: the line.
        where: names it in the error.

    Raises:
        ValueError: it is not a JSON object.
    """
    try:
        content = json.loads(line.removeprefix(BOM_UTF8))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not JSON ({error}): {line[:80]!r}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{where}: expected a JSON object, got {line[:80]!r}")
    return content


def line_starts(path: Path) -> Offsets:
    """Return the byte offsets at which the lines of a file begin, blank lines left out."""
    ends: list[Offsets] = []
    position = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            breaks = np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord("\n"))
            ends.append(breaks.astype(np.int64) + position)
            position += len(chunk)
    all_ends = np.concatenate([*ends, np.array([position], np.int64)])
    starts = np.concatenate([np.zeros(1, np.int64), all_ends[:-1] + 1])
    lengths = all_ends - starts
    with path.open("rb") as file:
        for line in np.flatnonzero(lengths == 1):
            file.seek(int(starts[line]))
            if file.read(1).isspace():  # the carriage return of a blank line
                lengths[line] = 0
    offsets: Offsets = starts[lengths > 0]
    return offsets
