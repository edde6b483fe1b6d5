"""Draws the country as SVG: sea, land, hills, rivers, roads, towns, and a way or a marker on top.

The drawing is decoration: everything on it stands on the pages in words, too. What never changes is
drawn once for each content of the tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from html import escape

from agentgym_envs.sites.map.curves import XY, bend, smooth
from agentgym_envs.sites.map.geography import COAST, HILLS, RIVERS, SHEET

TownRow = tuple[int, str, float, float, int, int]
RoadRow = tuple[int, str, int, int]

BIG, MIDDLE = 40000, 18000
LEFT_LABELS = {"Calder Point", "Ashmere", "Umberleigh", "Harrowgate", "Millbrook",
               "Dunmore", "Orchard Vale", "Lindenau", "Westerfield", "Saltmarsh"}  # fmt: skip
ROAD_WIDTHS = {"motorway": (2.3, 1.5), "main road": (1.6, 1.0), "lane": (0.8, 0.5)}
RATIO = 2.08  # width by height of the parts shown
SEAS = (("Senna Sound", 14, 232, -58), ("Gulf of Bells", 250, 282, 0), ("East Reach", 384, 96, 82))
MARGIN = 34  # km of country shown around a way


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
    towns, roads, colours = _tables(db)
    box = _box(ends, road_ids, zoom)
    places = {town[0]: (town[2], town[3]) for town in towns}
    way = "".join(
        f'<path class="way" d="{bend(places[a], places[b], number)}"/>'
        for number, _, a, b in roads
        if number in road_ids
    )
    pins = "".join(_pin(x, y, max(0.5, box[2] / 400)) for x, y in ends)
    view = " ".join(f"{value:g}" for value in box)
    ground, names = _ground(towns, roads, colours)
    return (
        f'<svg class="country" role="img" aria-label="{escape(label)}" viewBox="{view}" '
        f'preserveAspectRatio="xMidYMid slice">{ground}{way}{names}{pins}</svg>'
    )


def _tables(
    db: sqlite3.Connection,
) -> tuple[tuple[TownRow, ...], tuple[RoadRow, ...], tuple[str, ...]]:
    towns = db.execute("SELECT id, name, x, y, population, region_id FROM towns ORDER BY id")
    roads = db.execute("SELECT id, kind, town_a, town_b FROM roads ORDER BY id")
    colours = db.execute("SELECT colour FROM regions ORDER BY id")
    return tuple(map(tuple, towns)), tuple(map(tuple, roads)), tuple(row[0] for row in colours)


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
def _ground(
    towns: tuple[TownRow, ...], roads: tuple[RoadRow, ...], colours: tuple[str, ...]
) -> tuple[str, str]:
    coast = smooth(COAST, closed=True)
    places = {town[0]: (town[2], town[3]) for town in towns}
    glows = "".join(
        f'<stop offset="{offset}" stop-color="COLOUR" stop-opacity="{opacity}"/>'
        for offset, opacity in ((0, 0.95), (0.6, 0.7), (1, 0))
    )
    tints = "".join(
        f'<radialGradient id="region-{number}">{glows.replace("COLOUR", colour)}</radialGradient>'
        for number, colour in enumerate(colours, 1)
    )
    patches = "".join(
        f'<circle cx="{x:g}" cy="{y:g}" r="46" fill="url(#region-{region})"/>'
        for _, _, x, y, _, region in towns
    )
    hills = "".join(_hill(x, y, size) for x, y, size in HILLS)
    rivers = "".join(f'<path class="river" d="{smooth(points)}"/>' for _, points in RIVERS)
    ground = (
        f'<defs>{tints}<clipPath id="land"><path d="{coast}"/></clipPath></defs>'
        '<rect class="sea" x="-200" y="-200" width="800" height="700"/>'
        + "".join(f'<path class="shelf shelf-{n}" d="{coast}"/>' for n in (3, 2, 1))
        + f'<path class="land" d="{coast}"/><g clip-path="url(#land)">{patches}{rivers}</g>{hills}'
        f'<path class="coast" d="{coast}"/>{_roads(places, roads)}'
    )
    return ground, "".join(_town(town) for town in towns) + _legend()


def _roads(places: dict[int, XY], roads: tuple[RoadRow, ...]) -> str:
    casings, fills = [], []
    for kind in ("lane", "main road", "motorway"):
        path = "".join(bend(places[a], places[b], n) for n, k, a, b in roads if k == kind)
        name = kind.split()[0]
        outer, inner = ROAD_WIDTHS[kind]
        casings.append(f'<path class="casing casing-{name}" stroke-width="{outer}" d="{path}"/>')
        fills.append(f'<path class="road road-{name}" stroke-width="{inner}" d="{path}"/>')
    return "".join(casings + fills)


def _hill(x: float, y: float, size: float) -> str:
    peak, foot = y - size, size * 0.85
    right = f"Q{x + foot * 0.45:g} {peak + 2:g} {x + foot:g} {y:g}"
    return (
        f'<path class="hill" d="M{x - foot:g} {y:g}'
        f"Q{x - foot * 0.35:g} {peak + 1:g} {x:g} {peak:g}"
        f'{right}Z"/><path class="slope" d="M{x:g} {peak:g}{right}'
        f'L{x + foot * 0.2:g} {y:g}Q{x + foot * 0.25:g} {y - size * 0.5:g} {x:g} {peak:g}Z"/>'
    )


def _town(town: TownRow) -> str:
    _, name, x, y, population, _ = town
    size = "big" if population > BIG else "middle" if population > MIDDLE else "small"
    radius = {"big": 2.6, "middle": 1.9, "small": 1.4}[size]
    to_left = name in LEFT_LABELS
    shift = -radius - 1.4 if to_left else radius + 1.4
    side = ' text-anchor="end"' if to_left else ""
    return (
        f'<circle class="town town-{size}" cx="{x:g}" cy="{y:g}" r="{radius}"/>'
        f'<text class="name name-{size}" x="{x + shift:g}" y="{y + 1.8:g}"{side}>{name}</text>'
    )


def _legend() -> str:
    return "".join(
        f'<text class="water" x="{x}" y="{y}" transform="rotate({turn} {x} {y})">{name}</text>'
        for name, x, y, turn in SEAS
    )


def _pin(x: float, y: float, scale: float) -> str:
    return (
        f'<g class="pin" transform="translate({x:g} {y:g}) scale({scale:.2f})">'
        '<path d="M0 0C-2-5-6-7-6-11.5A6 6 0 0 1 6-11.5C6-7 2-5 0 0Z"/>'
        '<circle cx="0" cy="-11.5" r="2.3"/></g>'
    )
