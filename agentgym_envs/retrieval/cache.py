"""Keeps folders in the cache.

A cached folder holds the checksums of its files: one that is damaged is known, and made again.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path
from typing import TypeVar

from agentgym_envs.content.files import atomic_folder

_SUMS = "sha256.json"
_T = TypeVar("_T")
_log = logging.getLogger(__name__)


def read_cached(folder: Path, read: Callable[[Path], _T], *, what: str) -> _T | None:
    """Read a cached folder, or None where there is none, or where it was damaged and is deleted.

    Args:
        folder: as `write_cached` has written it.
        read: reads its files; what it raises of a damaged file counts as damage.
        what: names the content in the warning.
    """
    if not folder.is_dir():
        return None
    try:
        expected = json.loads((folder / _SUMS).read_text("utf-8"))
        actual = _checksums(folder)
        if actual != expected:
            wrong = sorted(name for name in expected if actual.get(name) != expected[name])
            raise ValueError(f"{', '.join(wrong) or 'a file too many'}: wrong checksum")
        return read(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        _log.warning("%s in %s is damaged and is built anew: %s", what, folder, error)
        shutil.rmtree(folder, ignore_errors=True)
        return None


def write_cached(folder: Path, write: Callable[[Path], None], *, what: str) -> None:
    """Write a cached folder atomically.

    A folder that cannot be written costs the next process the time to build, nothing more: it is
    logged.

    Args:
        folder: where it is to be.
        write: writes its files to the folder that it is given.
        what: names the content in the warning.
    """
    try:
        with atomic_folder(folder) as draft:
            write(draft)
            (draft / _SUMS).write_text(json.dumps(_checksums(draft)), encoding="utf-8")
    except OSError as error:
        if not folder.is_dir():  # else another process was faster, with the same content
            _log.warning("%s is not kept for later: %s", what, error)


def _checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file but that of the checksums."""
    sums = {}
    for path in sorted(folder.iterdir()):
        if path.name != _SUMS:
            with path.open("rb") as file:
                sums[path.name] = file_digest(file, "sha256").hexdigest()
    return sums
