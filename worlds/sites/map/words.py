"""Word lists that the names of streets and places are made from."""

from __future__ import annotations

from worlds.words import read_words

_WORDS = read_words("sites/map/words.toml")

STREET_NAMES: tuple[str, ...] = _WORDS["street_names"]
CENTRAL_STREETS: tuple[str, ...] = _WORDS["central_streets"]
"""Streets of every town, which cross in its centre."""

OPERATORS: tuple[str, ...] = _WORDS["operators"]
COLOURS: tuple[str, ...] = _WORDS["colours"]
THINGS: tuple[str, ...] = _WORDS["things"]
GIVEN: tuple[str, ...] = _WORDS["given"]
FAMILIES: tuple[str, ...] = _WORDS["families"]
SAINTS: tuple[str, ...] = _WORDS["saints"]

MUSEUM_SUBJECTS: tuple[str, ...] = _WORDS["museum_subjects"]
GALLERY_WORDS: tuple[str, ...] = _WORDS["gallery_words"]

RESTAURANTS: dict[str, tuple[str, ...]] = _WORDS["restaurants"]
NAMES: dict[str, tuple[str, ...]] = _WORDS["names"]
"""Patterns of names for every kind of place but restaurants, which go by cuisine."""

SPECIALITIES: tuple[str, ...] = _WORDS["specialities"]
