"""Draws Valdera as SVG: sea, land, hills, rivers and towns, the same in every world."""

from __future__ import annotations

from collections.abc import Sequence

from agentgym_envs.sites.map.geography import SHEET
from worlds.sites.map.geography import COAST, HILLS, REGIONS, RIVERS, TOWN_SITES, TownSite

BIG, MIDDLE = 40000, 18000
LEFT_LABELS = {"Calder Point", "Ashmere", "Umberleigh", "Harrowgate", "Millbrook",
               "Dunmore", "Orchard Vale", "Lindenau", "Westerfield", "Saltmarsh"}  # fmt: skip
SEAS = (("Senna Sound", 14, 232, -58), ("Gulf of Bells", 250, 282, 0), ("East Reach", 384, 96, 82))


def draw_country() -> str:
    """Return the map's SVG. Its third line is a placeholder for roads and a route."""
    coast = _smooth(COAST, closed=True)
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SHEET[0]} {SHEET[1]}">',
        _ground(coast),
        "<!-- roads and a way -->",
        "".join(_town(town) for town in TOWN_SITES) + _legend(),
        "</svg>",
    )
    return "\n".join(lines) + "\n"


def _ground(coast: str) -> str:
    glows = "".join(
        f'<stop offset="{offset}" stop-color="{{colour}}" stop-opacity="{opacity}"/>'
        for offset, opacity in ((0, 0.95), (0.6, 0.7), (1, 0))
    )
    tints = "".join(
        f'<radialGradient id="region-{number}">{glows.format(colour=region.colour)}'
        "</radialGradient>"
        for number, region in enumerate(REGIONS, 1)
    )
    patches = "".join(
        f'<circle cx="{town.x:g}" cy="{town.y:g}" r="46" fill="url(#region-{town.region + 1})"/>'
        for town in TOWN_SITES
    )
    hills = "".join(_hill(x, y, size) for x, y, size in HILLS)
    rivers = "".join(f'<path class="river" d="{_smooth(points)}"/>' for points in RIVERS.values())
    return (
        f'<defs>{tints}<clipPath id="land"><path d="{coast}"/></clipPath></defs>'
        '<rect class="sea" x="-200" y="-200" width="800" height="700"/>'
        + "".join(f'<path class="shelf shelf-{n}" d="{coast}"/>' for n in (3, 2, 1))
        + f'<path class="land" d="{coast}"/><g clip-path="url(#land)">{patches}{rivers}</g>{hills}'
        f'<path class="coast" d="{coast}"/>'
    )


def _hill(x: float, y: float, size: float) -> str:
    peak, foot = y - size, size * 0.85
    right = f"Q{x + foot * 0.45:g} {peak + 2:g} {x + foot:g} {y:g}"
    return (
        f'<path class="hill" d="M{x - foot:g} {y:g}'
        f"Q{x - foot * 0.35:g} {peak + 1:g} {x:g} {peak:g}"
        f'{right}Z"/><path class="slope" d="M{x:g} {peak:g}{right}'
        f'L{x + foot * 0.2:g} {y:g}Q{x + foot * 0.25:g} {y - size * 0.5:g} {x:g} {peak:g}Z"/>'
    )


def _town(town: TownSite) -> str:
    name, x, y, population = town.name, town.x, town.y, town.population
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


def _smooth(points: Sequence[Sequence[float]], *, closed: bool = False) -> str:
    """Return a path through points (Catmull-Rom as cubic Bezier curves)."""
    count = len(points)
    pieces = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for index in range(count if closed else count - 1):
        if closed:
            a, b, c, d = (points[(index + shift) % count] for shift in (-1, 0, 1, 2))
        else:
            a, b = points[max(index - 1, 0)], points[index]
            c, d = points[index + 1], points[min(index + 2, count - 1)]
        first = (b[0] + (c[0] - a[0]) / 6, b[1] + (c[1] - a[1]) / 6)
        second = (c[0] - (d[0] - b[0]) / 6, c[1] - (d[1] - b[1]) / 6)
        pieces.append(
            f"C{first[0]:.1f} {first[1]:.1f} {second[0]:.1f} {second[1]:.1f} {c[0]:g} {c[1]:g}"
        )
    return "".join(pieces) + ("Z" if closed else "")
