"""Texts of the reviews of places: openings, middles and ends, by group and rating."""

from __future__ import annotations

from worlds.words import read_words

_WORDS = read_words("sites/map/remarks.toml")

PRAISE: dict[str, tuple[str, ...]] = _WORDS["praise"]
COMPLAINTS: dict[str, tuple[str, ...]] = _WORDS["complaints"]
SOSO: tuple[str, ...] = _WORDS["soso"]
ENDINGS: tuple[str, ...] = _WORDS["endings"]
PLAIN_ENDINGS: tuple[str, ...] = _WORDS["plain_endings"]
LIST_NAMES: tuple[str, ...] = _WORDS["list_names"]
NOTES: tuple[str, ...] = _WORDS["notes"]
