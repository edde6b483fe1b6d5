"""The digest of content's sources, by which a test sees that it must be made again."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent


def sources_digest(paths: Iterable[str]) -> str:
    """Return the SHA-256 of files and folders, by their names and bytes.

    Args:
        paths: relative to the repository, such as `worlds/dice.py` and `worlds/sites`.
    """
    digest = sha256()
    for path in sorted({file for name in paths for file in _files(ROOT / name)}):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = [file for file in path.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    if not files:
        raise FileNotFoundError(f"{path} holds no file to take a digest of")
    return files
