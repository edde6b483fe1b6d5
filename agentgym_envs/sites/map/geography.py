"""The sheet that Valdera is drawn on: 400 by 290 km, x to the east and y to the south."""

from __future__ import annotations

from math import cos, radians

SHEET = (400, 290)
"""Width and height of the sheet in km."""

NORTH, WEST, KM_PER_DEGREE = 46.4, -31.2, 111.2


def latitude(y: float) -> float:
    """Return the degrees north of a height on the sheet."""
    return round(NORTH - y / KM_PER_DEGREE, 5)


def longitude(x: float) -> float:
    """Return the degrees east (so below zero) of a width on the sheet."""
    return round(WEST + x / (KM_PER_DEGREE * cos(radians(45))), 5)


def slug(name: str) -> str:
    """Return a name as it stands in an address."""
    return name.lower().replace(" ", "-")
