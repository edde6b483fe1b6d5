"""Draws the country as SVG: the shipped ground, the roads, and a way or pins on top.

The drawing is decoration: everything on it stands on the pages in words, too. `country.svg` holds
what is the same in every world; `python -m worlds sites` draws it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from math import hypot
from pathlib import Path

from agentgym_envs.sites.map.geography import SHEET

XY = tuple[float, float]
RoadRow = tuple[int, str, float, float, float, float]

COUNTRY_FILE = Path(__file__).with_name("country.svg")
ROAD_WIDTHS = {"lane": (0.8, 0.5), "main road": (1.6, 1.0), "motorway": (2.3, 1.5)}
RATIO = 2.08  # width by height of the parts shown
MARGIN = 34  # km of country shown around a way
_ROADS = (
    "SELECT r.id, r.kind, a.x, a.y, b.x, b.y FROM roads r JOIN towns a ON a.id = r.town_a "
    "JOIN towns b ON b.id = r.town_b ORDER BY r.id"
)
_, _GROUND, _, _NAMES, _ = COUNTRY_FILE.read_text(encoding="utf-8").splitlines()


def country(
    db: sqlite3.Connection,
    *,
    label: str,
    road_ids: Sequence[int] = (),
    ends: Sequence[XY] = (),
    zoom: tuple[float, float, float] | None = None,
) -> str:
    """Return the map as an `<svg>` element.

    Args:
        db: the map's database.
        label: says in words what the drawing shows.
        road_ids: roads of a way to draw on top.
        ends: points to mark with pins.
        zoom: (x, y, half width in km) to show a part of the country.
    """
    rows = tuple(map(tuple, db.execute(_ROADS)))
    box = _box(ends, road_ids, zoom)
    way = "".join(f'<path class="way" d="{_bend(row)}"/>' for row in rows if row[0] in road_ids)
    pins = "".join(_pin(x, y, max(0.5, box[2] / 400)) for x, y in ends)
    view = " ".join(f"{value:g}" for value in box)
    return (
        f'<svg class="country" role="img" aria-label="{escape(label)}" viewBox="{view}" '
        f'preserveAspectRatio="xMidYMid slice">{_GROUND}{_roads(rows)}{way}{_NAMES}{pins}</svg>'
    )


def _box(
    ends: Sequence[XY], road_ids: Sequence[int], zoom: tuple[float, float, float] | None
) -> tuple[float, float, float, float]:
    if zoom is not None:
        x, y, half = zoom
        return x - half, y - half / RATIO, half * 2, half * 2 / RATIO
    if len(ends) < 2 or not road_ids:
        return 0, 0, SHEET[0], SHEET[1]
    left, right = min(x for x, _ in ends) - MARGIN, max(x for x, _ in ends) + MARGIN
    top, bottom = min(y for _, y in ends) - MARGIN, max(y for _, y in ends) + MARGIN
    height = max(bottom - top, (right - left) / RATIO, 80)
    width = height * RATIO
    middle = ((left + right) / 2, (top + bottom) / 2)
    return middle[0] - width / 2, middle[1] - height / 2, width, height


@lru_cache(maxsize=4)
def _roads(rows: tuple[RoadRow, ...]) -> str:
    casings, fills = [], []
    for kind, (outer, inner) in ROAD_WIDTHS.items():
        path = "".join(_bend(row) for row in rows if row[1] == kind)
        name = kind.split()[0]
        casings.append(f'<path class="casing casing-{name}" stroke-width="{outer}" d="{path}"/>')
        fills.append(f'<path class="road road-{name}" stroke-width="{inner}" d="{path}"/>')
    return "".join(casings + fills)


def _bend(row: RoadRow) -> str:
    """Return the path of a road, bent to a side and a degree that its number decides."""
    number, _, ax, ay, bx, by = row
    length = hypot(bx - ax, by - ay) or 1.0
    share = ((number * 37) % 11 - 5) / 5 * 0.09
    x = (ax + bx) / 2 - (by - ay) / length * length * share
    y = (ay + by) / 2 + (bx - ax) / length * length * share
    return f"M{ax:g} {ay:g}Q{x:.1f} {y:.1f} {bx:g} {by:g}"


def _pin(x: float, y: float, scale: float) -> str:
    return (
        f'<g class="pin" transform="translate({x:g} {y:g}) scale({scale:.2f})">'
        '<path d="M0 0C-2-5-6-7-6-11.5A6 6 0 0 1 6-11.5C6-7 2-5 0 0Z"/>'
        '<circle cx="0" cy="-11.5" r="2.3"/></g>'
    )
