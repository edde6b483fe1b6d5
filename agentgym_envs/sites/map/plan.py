"""Draws a town's plan as SVG: streets, parks, and the places as dots.

Decoration, as the country: everything on it stands on the pages in words.
"""

from __future__ import annotations

import sqlite3
from html import escape

from agentgym_envs.sites.map.categories import BY_NAME

METRES = 1000  # the plan's unit
EDGE = 160  # metres shown around the streets
AROUND = 1900  # metres shown from left to right around one place
RATIO = 1.82  # width by height of what is shown


def town_plan(db: sqlite3.Connection, town_id: int, *, label: str, place_id: int = 0) -> str:
    """Return a town's plan as an `<svg>` element, with a pin on one place if given."""
    streets = db.execute(
        "SELECT id, name, x1, y1, x2, y2 FROM streets WHERE town_id = ? ORDER BY id", (town_id,)
    ).fetchall()
    places = db.execute(
        "SELECT id, category, x, y FROM places WHERE town_id = ? ORDER BY id", (town_id,)
    ).fetchall()
    xs = [value for street in streets for value in (street["x1"], street["x2"])]
    ys = [value for street in streets for value in (street["y1"], street["y2"])]
    left, top = min(xs), min(ys)
    width = int((max(xs) - left) * METRES) + 2 * EDGE
    height = int((max(ys) - top) * METRES) + 2 * EDGE

    def at(x: float, y: float) -> tuple[int, int]:
        return round((x - left) * METRES) + EDGE, round((y - top) * METRES) + EDGE

    lines = [(*at(s["x1"], s["y1"]), *at(s["x2"], s["y2"])) for s in streets]
    path = "".join(f"M{a} {b}L{c} {d}" for a, b, c, d in lines)
    main = "".join(f"M{a} {b}L{c} {d}" for a, b, c, d in lines[:2])
    pieces = [
        f'<path class="built" d="{path}"/>',
        *(_park(*at(p["x"], p["y"])) for p in places if p["category"] == "Park"),
        f'<path class="kerb" d="{path}"/><path class="kerb kerb-main" d="{main}"/>',
        f'<path class="street" d="{path}"/><path class="street street-main" d="{main}"/>',
        *(_street_name(street["name"], line) for street, line in zip(streets, lines, strict=True)),
    ]
    for place in places:
        x, y = at(place["x"], place["y"])
        group = BY_NAME[place["category"]].group
        pieces.append(f'<circle class="dot dot-{group}" cx="{x}" cy="{y}" r="20"/>')
    view = (width / 2, height / 2, width)
    for place in places:
        if place["id"] == place_id:
            x, y = at(place["x"], place["y"])
            view = (x, y, AROUND)
            pieces.append(
                f'<g class="pin" transform="translate({x} {y}) scale(7)">'
                '<path d="M0 0C-2-5-6-7-6-11.5A6 6 0 0 1 6-11.5C6-7 2-5 0 0Z"/>'
                '<circle cx="0" cy="-11.5" r="2.3"/></g>'
            )
    return (
        f'<svg class="plan" role="img" aria-label="{escape(label)}" viewBox="{_box(*view)}" '
        f'preserveAspectRatio="xMidYMid slice">{"".join(pieces)}</svg>'
    )


def _box(x: float, y: float, width: float) -> str:
    height = width / RATIO
    return f"{x - width / 2:.0f} {y - height / 2:.0f} {width:.0f} {height:.0f}"


def _park(x: int, y: int) -> str:
    return (
        f'<path class="park" d="M{x - 120} {y - 40}q60-90 150-60t90 110q-10 90-120 80'
        f't-130-60q-10-40 10-70Z"/>'
    )


def _street_name(name: str, line: tuple[int, int, int, int]) -> str:
    a, b, c, d = line
    if a > c:
        a, b, c, d = c, d, a, b
    x, y = a + (c - a) * 0.3, b + (d - b) * 0.3
    matrix = _turn(c - a, d - b)
    return f'<text class="street-name" transform="matrix({matrix} {x:.0f} {y:.0f})">{name}</text>'


def _turn(dx: float, dy: float) -> str:
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    cosine, sine = dx / length, dy / length
    return f"{cosine:.3f} {sine:.3f} {-sine:.3f} {cosine:.3f}"
