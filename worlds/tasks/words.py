"""Texts that tasks ask the agent to write, by site."""

from __future__ import annotations

from typing import Any

from worlds.words import read_words

WORDS: dict[str, dict[str, Any]] = read_words("tasks/words.toml")
