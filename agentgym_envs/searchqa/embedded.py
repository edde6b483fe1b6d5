"""Makes the embedded corpus and its questions on first use, then reads them from a cache.

The world is fictional, so a right answer cannot have been memorised. It is the same on every
machine: its content hash is pinned here, and a cached copy counts only if it has that hash.
"""

from __future__ import annotations

import logging
import zlib
from functools import cache
from pathlib import Path

from agentgym_envs.files import write_whole
from agentgym_envs.searchqa.cache import CACHE_VARIABLE, cache_folder
from agentgym_envs.searchqa.documents import Corpus
from agentgym_envs.searchqa.questions import QuestionSet
from agentgym_envs.searchqa.world.store import compress, decompress, fingerprint, pack, unpack

VERSION = 1
"""Raise it with every change of the generator that changes content, and pin the hash anew with
`python -m agentgym_envs.searchqa.world.pin`."""

SEED = 2026

CONTENT_HASH = "228ddd5509c0d7f5c6f4dc35c70103bd2fd62f8c48ee0b6a3773167a5a4ecff4"
"""SHA-256 of the packed passages and questions of this version."""

SOURCE = f"agentgym-world v{VERSION} ({CONTENT_HASH[:12]})"

_LOG = logging.getLogger(__name__)


@cache
def embedded_world() -> tuple[Corpus, QuestionSet]:
    """Return the embedded corpus and its questions, loaded once per process."""
    # Imported here: 400 numbers that whoever brings data of their own need not load.
    from agentgym_envs.searchqa.world.paper_panel import PAPER_TEST

    passages, questions = unpack(packed_content())
    return Corpus(passages, SOURCE), QuestionSet(questions, SOURCE, paper_test=PAPER_TEST)


def cache_file() -> Path:
    """Return the file that holds this version of the world."""
    return cache_folder() / f"world-v{VERSION}-{CONTENT_HASH[:12]}.jsonl.gz"


def generate() -> bytes:
    """Make the world, its prose and its questions, packed."""
    # Imported here: the generator is not needed once the cache is filled.
    from agentgym_envs.searchqa.world.asking.families import Examiner
    from agentgym_envs.searchqa.world.build import build_world
    from agentgym_envs.searchqa.world.prose.writer import Writer

    world = build_world(SEED)
    library = Writer(world, SEED).write()
    return pack(library.passages, Examiner(world, library, SEED).questions())


def packed_content() -> bytes:
    """Read the packed content from the cache, or make it and fill the cache."""
    path = cache_file()
    content = _read(path)
    if content is None:
        _LOG.info("making the embedded SearchQA world (once; kept in %s)", path)
        content = generate()
        if fingerprint(content) != CONTENT_HASH:
            raise RuntimeError(
                f"the generated world has the hash {fingerprint(content)[:12]}, expected "
                f"{CONTENT_HASH[:12]} for version {VERSION}; after a change of the generator raise "
                "VERSION and run `python -m agentgym_envs.searchqa.world.pin`"
            )
        _write(path, content)
    return content


def _read(path: Path) -> bytes | None:
    """Return the content of a whole and fitting cache file, else None."""
    try:
        content = decompress(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, EOFError, zlib.error) as error:
        _LOG.warning("%s cannot be read (%s); it is made anew", path, error)
        return None
    if fingerprint(content) != CONTENT_HASH:
        _LOG.warning("%s does not hold version %d; it is made anew", path, VERSION)
        return None
    return content


def _write(path: Path, content: bytes) -> None:
    """Fill the cache, if its folder lets us; others may do the same at this moment."""
    try:
        write_whole(path, compress(content))
    except OSError as error:
        _LOG.warning(
            "the world is not cached: %s cannot be written (%s); set %s to a folder that is "
            "writable",
            path,
            error,
            CACHE_VARIABLE,
        )
