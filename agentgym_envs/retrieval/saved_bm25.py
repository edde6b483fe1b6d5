"""Keeps BM25 indices on disk, so that only the first process over a corpus has to build one.

A saved index is found by the content of its corpus. It is mapped into memory: processes share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import bm25s

from agentgym_envs.retrieval.cache import read_cached, write_cached
from agentgym_envs.retrieval.documents import Passage

_WHAT = "the BM25 index"


def fingerprint(passages: Sequence[Passage], *settings: object) -> str:
    """Name an index by its content: every passage, and the settings."""
    digest = sha256(repr((bm25s.__version__, *settings)).encode())
    for passage in passages:
        digest.update(f"{passage.title}\0{passage.text}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:24]


def load_index(folder: Path) -> bm25s.BM25 | None:
    """Return the index saved in a folder, or None where there is none, or none that can be read."""
    return read_cached(
        folder, lambda path: bm25s.BM25.load(path, mmap=True, show_progress=False), what=_WHAT
    )


def save_index(index: bm25s.BM25, folder: Path) -> None:
    """Save an index, if its folder can be written."""
    write_cached(folder, lambda path: index.save(str(path), show_progress=False), what=_WHAT)
