"""Regions, towns and motorways of Valdera."""

from __future__ import annotations

from dataclasses import dataclass

from worlds.words import read_words

_WORDS = read_words("sites/map/geography.toml")


@dataclass(frozen=True)
class Region:
    """A region: its name, description, capital, and colour on the map."""

    name: str
    about: str
    capital: str
    colour: str


@dataclass(frozen=True)
class TownSite:
    """A town's position, population and transport.

    Attributes:
        name: one of `setting.TOWNS`.
        region: index into `REGIONS`.
        x: km east of the sheet's left edge.
        y: km south of its upper edge.
        population: inhabitants.
        elevation: metres above the sea.
        has_airport: whether passenger aircraft land there.
        has_railway: whether trains stop there.
    """

    name: str
    region: int
    x: float
    y: float
    population: int
    elevation: int
    has_airport: bool = False
    has_railway: bool = False


REGIONS = tuple(Region(**region) for region in _WORDS["regions"])
TOWN_SITES = tuple(TownSite(**town) for town in _WORDS["towns"])
MOTORWAYS: dict[str, tuple[str, ...]] = _WORDS["motorways"]
"""The motorways and the towns where one leaves and joins them, in order."""
COAST: list[list[float]] = _WORDS["coast"]
RIVERS: dict[str, list[list[float]]] = _WORDS["rivers"]
HILLS: list[list[float]] = _WORDS["hills"]
