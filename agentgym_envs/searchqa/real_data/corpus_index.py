"""Indexes the passages, documents and titles of a corpus file, and caches the index.

The arrays are mapped into memory, so processes share them.
"""

from __future__ import annotations

import json
import logging
from array import array
from dataclasses import dataclass
from hashlib import blake2b, sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agentgym_envs.content.files import cache_folder
from agentgym_envs.retrieval.cache import read_cached, write_cached
from agentgym_envs.retrieval.documents import split_contents
from agentgym_envs.searchqa.real_data.lines import Offsets, parse_line

_VERSION = 1
_ARRAYS = ("starts", "firsts", "title_keys", "title_documents")
_WHAT = "the index of the corpus file"
_LOG_EVERY = 1_000_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CorpusIndex:
    """Positions in a corpus file.

    Attributes:
        starts: (N,) byte offset of each passage's line.
        firsts: (M,) number of each document's first passage, ascending.
        title_keys: (M,) `title_key` of each document's title, ascending.
        title_documents: (M,) the documents in the order of `title_keys`; equal keys by document.
        content_hash: twelve hexadecimal digits of the file's SHA-256.
    """

    starts: Offsets
    firsts: Offsets
    title_keys: npt.NDArray[np.uint64]
    title_documents: Offsets
    content_hash: str


def title_key(title: str) -> int:
    """Return 64 bits of a title in lower case without outer spaces."""
    return int.from_bytes(blake2b(title.encode("utf-8", "replace"), digest_size=8).digest())


def open_index(path: Path) -> CorpusIndex:
    """Return the index of a corpus file, from the cache or made now.

    A file that has another size or time of change than the indexed one is read again.

    Raises:
        ValueError: there is no such file, it is compressed or empty, or a line is not of the form.
    """
    if not path.is_file():
        raise ValueError(
            f"there is no corpus file {str(path)!r}; expected JSONL, one "
            '{"id": ..., "contents": "title, line break, text"} a line'
        )
    if path.suffix in (".gz", ".zip", ".zst", ".xz", ".bz2"):
        raise ValueError(
            f"the corpus {path.name} is compressed, and its passages are read from the middle; "
            "decompress it first"
        )
    status = path.stat()
    key = f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{_VERSION}"
    folder = cache_folder("searchqa") / f"corpus-{sha256(key.encode()).hexdigest()[:16]}"
    index = read_cached(folder, _load, what=_WHAT)
    if index is None:
        index = made = _make(path)
        write_cached(folder, lambda draft: _save(made, draft), what=_WHAT)
    return index


def _make(path: Path) -> CorpusIndex:
    starts, firsts, keys = array("q"), array("q"), array("Q")
    digest = sha256()
    offset = 0
    last_title = None
    with path.open("rb") as file:
        for line in file:
            digest.update(line)
            if line.strip():
                title, _ = split_contents(_contents(line, f"{path}, passage {len(starts)}"))
                if title != last_title:
                    firsts.append(len(starts))
                    keys.append(title_key(title.strip().casefold()))
                    last_title = title
                starts.append(offset)
                if len(starts) % _LOG_EVERY == 0:
                    _log.info("indexing %s: %d passages", path.name, len(starts))
            offset += len(line)
    if not starts:
        raise ValueError(f"the corpus file {path} holds no passages")
    all_keys = np.array(keys, np.uint64)
    order = np.argsort(all_keys, kind="stable")
    return CorpusIndex(
        starts=np.array(starts, np.int64),
        firsts=np.array(firsts, np.int64),
        title_keys=all_keys[order],
        title_documents=order.astype(np.int64),
        content_hash=digest.hexdigest()[:12],
    )


def _contents(line: bytes, where: str) -> str:
    contents = parse_line(line, where).get("contents")
    if not isinstance(contents, str):
        raise ValueError(
            f"{where}: 'contents' must be a string, the title, a line break and the text; "
            f"got {contents!r:.80}"
        )
    return contents


def _load(folder: Path) -> CorpusIndex:
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
    about = json.loads((folder / "about.json").read_text("utf-8"))
    return CorpusIndex(**arrays, content_hash=about["content_hash"])


def _save(index: CorpusIndex, folder: Path) -> None:
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(index, name))
    about = json.dumps({"content_hash": index.content_hash})
    (folder / "about.json").write_text(about, encoding="utf-8")
