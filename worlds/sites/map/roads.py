"""Lays the roads between the towns: motorways as drawn, other roads between neighbours.

Two towns are neighbours where no third one lies within the circle that has the two at its ends (a
Gabriel graph), so no two roads cross.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import dist

from worlds.dice import Dice
from worlds.sites.map.geography import MOTORWAYS, TOWN_SITES

LONGEST = 78.0  # km as the crow flies; beyond that no ordinary road goes without a town between
MAIN_ROAD_POPULATION = 26000  # of both towns together


@dataclass(frozen=True)
class Road:
    """A road between two towns, the same both ways.

    Attributes:
        name: such as `M1`, `A12`, `L203`.
        kind: `"motorway"`, `"main road"` or `"lane"`.
        ends: indexes of the towns.
        hectometres: its length in units of 100 m.
        speed: of cars, km/h.
    """

    name: str
    kind: str
    ends: tuple[int, int]
    hectometres: int
    speed: int


def lay_roads(dice: Dice) -> list[Road]:
    """Return every road of the country."""
    places = {site.name: index for index, site in enumerate(TOWN_SITES)}
    roads = []
    for name, stops in MOTORWAYS.items():
        for here, there in zip(stops, stops[1:], strict=False):
            ends = (places[here], places[there])
            roads.append(_road(name, "motorway", ends, dice.uniform(1.03, 1.07), 120))
    beside = {frozenset(road.ends) for road in roads}
    main, lane = 10, 201
    for ends in _neighbours():
        is_beside_motorway = frozenset(ends) in beside
        people = sum(TOWN_SITES[end].population for end in ends)
        if people >= MAIN_ROAD_POPULATION and not is_beside_motorway:
            speed = dice.pick((80, 85, 90))
            roads.append(_road(f"A{main}", "main road", ends, dice.uniform(1.08, 1.17), speed))
            main += 1
        else:
            speed = dice.pick((50, 55, 60, 65))
            roads.append(_road(f"L{lane}", "lane", ends, dice.uniform(1.14, 1.34), speed))
            lane += 1
    return roads


def _road(name: str, kind: str, ends: tuple[int, int], winding: float, speed: int) -> Road:
    a, b = (TOWN_SITES[end] for end in ends)
    return Road(name, kind, ends, round(dist((a.x, a.y), (b.x, b.y)) * winding * 10), speed)


def _neighbours() -> Iterator[tuple[int, int]]:
    for first, a in enumerate(TOWN_SITES):
        for second in range(first + 1, len(TOWN_SITES)):
            b = TOWN_SITES[second]
            length = dist((a.x, a.y), (b.x, b.y))
            middle = ((a.x + b.x) / 2, (a.y + b.y) / 2)
            between = any(
                dist((c.x, c.y), middle) < length / 2 - 1e-9
                for index, c in enumerate(TOWN_SITES)
                if index not in (first, second)
            )
            if not between and length <= LONGEST:
                yield first, second
