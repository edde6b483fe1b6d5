"""The world's fixed words: countries, trades, styles and institutions."""

from __future__ import annotations

from worlds.searchqa.tables import table

_WORDS = table("vocabulary")

CONTINENTS: tuple[str, ...] = tuple(table("names")["continents"])
COUNTRIES: tuple[tuple[str, str, str, str, str], ...] = tuple(
    map(tuple, table("names")["countries"])
)
"""Name, adjective, culture, language and currency of each."""

CITY_INDUSTRIES: tuple[str, ...] = tuple(_WORDS["city_industries"])
COMPANY_SORTS: dict[str, list[str]] = _WORDS["company_sorts"]
"""Endings of companies' names, by trade."""
STYLES: tuple[str, ...] = tuple(_WORDS["styles"])
LANDMARKS: tuple[str, ...] = tuple(_WORDS["landmarks"])
SPORTS: dict[str, str] = _WORDS["sports"]
"""By sport, who competes in it."""
CLUB_ENDINGS: tuple[str, ...] = tuple(_WORDS["club_endings"])
MUSIC: tuple[str, ...] = tuple(_WORDS["music"])
FILM_GENRES: tuple[str, ...] = tuple(_WORDS["film_genres"])
NOVEL_GENRES: tuple[str, ...] = tuple(_WORDS["novel_genres"])
AWARD_FIELDS: tuple[str, ...] = tuple(_WORDS["award_fields"])
SPECIES: tuple[str, ...] = tuple(_WORDS["species"])
OCCUPATIONS: tuple[str, ...] = tuple(_WORDS["occupations"])
MONTHS: tuple[str, ...] = tuple(_WORDS["months"])

TITLE_PATTERNS: tuple[str, ...] = tuple(_WORDS["titles"]["patterns"])
ADJECTIVES: tuple[str, ...] = tuple(_WORDS["titles"]["adjectives"])
NOUNS: tuple[str, ...] = tuple(_WORDS["titles"]["nouns"])
PLURALS: tuple[str, ...] = tuple(_WORDS["titles"]["plurals"])
ABSTRACT: tuple[str, ...] = tuple(_WORDS["titles"]["abstract"])
PROFESSIONS: tuple[str, ...] = tuple(_WORDS["titles"]["professions"])
