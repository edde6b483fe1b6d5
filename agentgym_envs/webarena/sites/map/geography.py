"""The shape of Valdera: regions, where the towns lie, coast, rivers, hills and motorways.

Drawn by hand on a sheet of 400 by 290 km, x to the east and y to the south.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians

SHEET = (400, 290)
"""Width and height of the sheet in km."""

NORTH, WEST, KM_PER_DEGREE = 46.4, -31.2, 111.2


@dataclass(frozen=True)
class Region:
    """A region: its name, what one says of it, the capital, and the colour on the map."""

    name: str
    about: str
    capital: str
    colour: str


@dataclass(frozen=True)
class TownSite:
    """Where a town lies and what it has.

    Attributes:
        name: one of `people.TOWNS`.
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


REGIONS = (
    Region("Highfells", "Moors, waterfalls and slate villages under the northern ridge.",
           "Glenmoor", "#e9e2cf"),
    Region("Sennamark", "The Atlantic side: harbours, surf and long green headlands.",
           "Port Senna", "#dcebdc"),
    Region("Middle Vale", "Mild farmland along the Wend, and the capital in its midst.",
           "Kingsreach", "#f1ecd3"),
    Region("Ostermark", "Ironworks, vineyards and the old mining towns of the east.",
           "Ironbridge", "#eadfd6"),
    Region("Southmarches", "Reed beds, salt pans and wide beaches on the warm coast.",
           "Rivermouth", "#e0eade"),
    Region("Larkwood", "Beech forest and market towns between the capital and the sea.",
           "Larkspur", "#d8e6cd"),
)  # fmt: skip

TOWN_SITES = (
    TownSite("Alderbrook", 2, 191, 111, 21480, 96, has_railway=True),
    TownSite("Ashmere", 1, 96, 72, 7930, 61),
    TownSite("Bellhaven", 4, 254, 253, 26150, 7, has_railway=True),
    TownSite("Brackwater", 4, 127, 238, 9870, 4),
    TownSite("Calder Point", 1, 40, 94, 12640, 12, has_railway=True),
    TownSite("Carrowdale", 1, 82, 106, 8420, 118),
    TownSite("Copperfield", 3, 317, 80, 18350, 284, has_railway=True),
    TownSite("Dunmore", 1, 90, 150, 16720, 83, has_railway=True),
    TownSite("Eastwick", 3, 353, 153, 29480, 15, has_airport=True, has_railway=True),
    TownSite("Elmsworth", 5, 331, 216, 13290, 42),
    TownSite("Fallowby", 5, 291, 229, 6310, 55),
    TownSite("Fernhollow", 5, 231, 229, 5480, 131),
    TownSite("Glenmoor", 0, 151, 55, 24970, 231, has_airport=True, has_railway=True),
    TownSite("Granite Bay", 0, 268, 39, 14810, 9, has_railway=True),
    TownSite("Harrowgate", 3, 262, 141, 22760, 147, has_railway=True),
    TownSite("Hazelford", 2, 223, 173, 11940, 72),
    TownSite("Ironbridge", 3, 292, 106, 48260, 162, has_railway=True),
    TownSite("Juniper Falls", 0, 242, 77, 4870, 412),
    TownSite("Kestrel Bay", 1, 60, 184, 19360, 5),
    TownSite("Kingsreach", 2, 200, 150, 186400, 48, has_airport=True, has_railway=True),
    TownSite("Larkspur", 5, 284, 190, 37590, 88, has_railway=True),
    TownSite("Lindenau", 3, 304, 147, 10530, 124),
    TownSite("Marlow Heath", 2, 169, 178, 9260, 103),
    TownSite("Millbrook", 2, 147, 152, 31840, 57, has_railway=True),
    TownSite("Northcliff", 0, 192, 24, 17430, 22),
    TownSite("Oakhurst", 5, 251, 201, 15870, 94, has_railway=True),
    TownSite("Orchard Vale", 2, 121, 129, 8790, 76),
    TownSite("Pinecrest", 0, 205, 61, 6640, 338),
    TownSite("Port Senna", 1, 48, 139, 74150, 6, has_airport=True, has_railway=True),
    TownSite("Quarry Hill", 0, 177, 87, 11280, 204, has_railway=True),
    TownSite("Redmarsh", 4, 182, 229, 12170, 3, has_railway=True),
    TownSite("Rivermouth", 4, 205, 263, 52930, 4, has_airport=True, has_railway=True),
    TownSite("Saltmarsh", 4, 160, 259, 7380, 2),
    TownSite("Silverton", 3, 342, 117, 20640, 193, has_railway=True),
    TownSite("Stonebridge", 0, 129, 91, 19750, 143, has_railway=True),
    TownSite("Thornbury", 5, 318, 183, 16480, 69),
    TownSite("Umberleigh", 5, 206, 201, 7850, 115),
    TownSite("Vale Royal", 2, 229, 122, 14360, 109),
    TownSite("Westerfield", 4, 108, 198, 17920, 38, has_railway=True),
    TownSite("Willowmere", 2, 172, 131, 42310, 64, has_railway=True),
)

MOTORWAYS = {
    "M1": ("Glenmoor", "Quarry Hill", "Alderbrook", "Kingsreach", "Umberleigh", "Redmarsh",
           "Rivermouth"),
    "M2": ("Port Senna", "Dunmore", "Millbrook", "Kingsreach", "Harrowgate", "Lindenau",
           "Eastwick"),
    "M3": ("Harrowgate", "Ironbridge", "Copperfield"),
    "M4": ("Kingsreach", "Hazelford", "Oakhurst", "Larkspur", "Thornbury"),
    "M5": ("Millbrook", "Westerfield", "Brackwater"),
}  # fmt: skip
"""The motorways and the towns where one leaves and joins them, in order."""

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
