"""Reads word lists: TOML files beside the modules that draw from them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def read_words(path: str) -> dict[str, Any]:
    """Return a file's content, its lists as tuples.

    Args:
        path: relative to the folder `worlds`, such as `sites/reddit/writing.toml`.
    """
    return {
        name: _frozen(value)
        for name, value in tomllib.loads(
            (Path(__file__).parent / path).read_text(encoding="utf-8")
        ).items()
    }


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {name: _frozen(inner) for name, inner in value.items()}
    return value
