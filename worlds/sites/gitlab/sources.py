"""Small, plausible files for a project of each kind, with slots.

Slots are written `<name>`, since code is full of braces.
"""

from __future__ import annotations

from worlds.words import read_words

_WORDS = read_words("sites/gitlab/sources.toml")

COMMON: dict[str, str] = _WORDS["common"]
START: dict[str, str] = _WORDS["start"]
FILES: dict[str, dict[str, str]] = _WORDS["files"]
