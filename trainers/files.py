"""Writes files whole or not at all. Knows nothing of what is in them."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4


def replace_text(path: Path, text: str) -> None:
    """Write a file so that a reader, or a kill, finds the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
