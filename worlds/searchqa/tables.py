"""Reads the word lists and sentence patterns, which are TOML files in `words/`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

WORDS = Path(__file__).with_name("words")


@cache
def table(name: str) -> dict[str, Any]:
    """Return the content of a file, such as `"prose/people"`."""
    return tomllib.loads((WORDS / f"{name}.toml").read_text("utf-8"))
