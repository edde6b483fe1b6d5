"""The shape of Valdera: coast, rivers and hills.

Drawn by hand on a sheet of 400 by 290 km, x to the east and y to the south.
"""

from __future__ import annotations

from math import cos, radians

SHEET = (400, 290)
"""Width and height of the sheet in km."""

NORTH, WEST, KM_PER_DEGREE = 46.4, -31.2, 111.2


COAST = (
    (150, 30), (168, 22), (190, 14), (212, 17), (232, 27), (250, 25), (272, 29), (284, 44),
    (300, 52), (326, 56), (340, 72), (352, 90), (366, 108), (368, 130), (366, 152), (360, 172),
    (352, 190), (350, 208), (346, 224), (328, 232), (312, 242), (290, 246), (272, 256), (256, 263),
    (238, 262), (222, 270), (206, 273), (190, 266), (174, 270), (156, 268), (140, 256), (122, 249),
    (104, 236), (92, 222), (82, 208), (64, 200), (49, 190), (46, 174), (52, 160), (36, 146),
    (38, 130), (30, 114), (26, 96), (38, 82), (58, 80), (72, 66), (84, 54), (104, 52), (122, 42),
)  # fmt: skip
"""The coast as points to draw a smooth closed line through."""

RIVERS = (
    ("Wend", ((238, 74), (226, 96), (212, 112), (202, 132), (198, 152), (192, 176), (190, 200),
              (184, 230), (197, 252), (205, 272))),
    ("Senn", ((160, 78), (140, 100), (116, 122), (92, 140), (68, 146), (40, 142))),
    ("Aster", ((300, 92), (294, 108), (306, 130), (330, 146), (352, 158), (364, 162))),
    ("Lark", ((262, 168), (272, 186), (266, 208), (262, 232), (255, 262))),
)  # fmt: skip

HILLS = (
    (232, 56, 9), (224, 68, 11), (240, 60, 8), (252, 66, 10), (258, 80, 9), (216, 80, 8),
    (270, 72, 8), (162, 68, 7), (190, 72, 7), (110, 88, 7), (322, 96, 8), (332, 94, 7),
    (308, 66, 7), (146, 72, 7), (284, 84, 7), (216, 212, 6), (224, 216, 5), (100, 112, 6),
)  # fmt: skip
"""Hills to draw: middle of the foot, and height on the sheet."""


def latitude(y: float) -> float:
    """Return the degrees north of a height on the sheet."""
    return round(NORTH - y / KM_PER_DEGREE, 5)


def longitude(x: float) -> float:
    """Return the degrees east (so below zero) of a width on the sheet."""
    return round(WEST + x / (KM_PER_DEGREE * cos(radians(45))), 5)


def slug(name: str) -> str:
    """Return a name as it stands in an address."""
    return name.lower().replace(" ", "-")
