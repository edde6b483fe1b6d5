"""Writes the rows of a world and their hash, as `agentgym_envs.content.packed` reads them."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from agentgym_envs.content.files import write_atomically
from agentgym_envs.content.packed import PackedRows
from worlds.sources import sources_digest


def packed(rows: Iterable[object]) -> bytes:
    """Return rows as lines of JSON."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return "\n".join(lines).encode()


def write_rows(folder: Path, files: PackedRows, content: bytes, sources: Iterable[str]) -> str:
    """Write packed rows into a folder, with the digest of their sources.

    Rows that are there already stay as they are: another version of the compressor would write
    other bytes.

    Returns:
        The first twelve digits of the rows' hash.
    """
    about = {"content": sha256(content).hexdigest(), "sources": sources_digest(sources)}
    folder.mkdir(parents=True, exist_ok=True)
    path = files.about_in(folder)
    if not path.is_file() or json.loads(path.read_text("utf-8"))["content"] != about["content"]:
        write_atomically(files.file_in(folder), lzma.compress(content, preset=9))
    write_atomically(path, json.dumps(about) + "\n")
    return about["content"][:12]


def named(world: str, version: int, seed: int) -> str:
    """Return the name of a world's content, such as `agentgym-shop v1 seed 7`."""
    return f"{world} v{version}{f' seed {seed}' if seed else ''}"
