"""Keeps BM25 indices on disk, so that only the first process over a corpus has to build one.

A saved index is found by the content of its corpus. It is mapped into memory: processes share it.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import bm25s

from agentgym_envs.searchqa.documents import Passage

_log = logging.getLogger(__name__)


def fingerprint(passages: Sequence[Passage], *settings: object) -> str:
    """Name an index by what it is made from: every passage, and the settings."""
    digest = sha256(repr((bm25s.__version__, *settings)).encode())
    for passage in passages:
        digest.update(f"{passage.title}\0{passage.text}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:24]


def load_index(folder: Path) -> bm25s.BM25 | None:
    """Return the index saved in a folder; None where there is none, or none that can be read."""
    if not folder.is_dir():
        return None
    try:
        return bm25s.BM25.load(folder, mmap=True, show_progress=False)
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        _log.warning("the BM25 index in %s is damaged and is built anew: %s", folder, error)
        shutil.rmtree(folder, ignore_errors=True)
        return None


def save_index(index: bm25s.BM25, folder: Path) -> None:
    """Save an index; whoever looks for it meanwhile sees a whole one or none.

    A folder that cannot be written costs the next process the time to build, nothing more: it is
    logged.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent)
    except OSError as error:
        _log.warning("the BM25 index is not kept for later: %s", error)
        return
    try:
        index.save(draft, show_progress=False)
        os.rename(draft, folder)
    except OSError as error:
        if not folder.is_dir():  # else another process was faster, with the same index
            _log.warning("the BM25 index is not kept for later: %s", error)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
