"""Turns points into SVG paths: smooth lines, and the gentle bends of roads."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

XY = tuple[float, float]


def smooth(points: Sequence[XY], *, closed: bool = False) -> str:
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


def bend(a: XY, b: XY, number: int) -> str:
    """Return the path of a road, bent to a side and a degree that its number decides."""
    length = hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    share = ((number * 37) % 11 - 5) / 5 * 0.09
    x = (a[0] + b[0]) / 2 - (b[1] - a[1]) / length * length * share
    y = (a[1] + b[1]) / 2 + (b[0] - a[0]) / length * length * share
    return f"M{a[0]:g} {a[1]:g}Q{x:.1f} {y:.1f} {b[0]:g} {b[1]:g}"
