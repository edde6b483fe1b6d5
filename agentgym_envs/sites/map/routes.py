"""Finds the quickest way over the roads: Dijkstra's algorithm on the database's road table.

A way runs from a point through the centre of its town, over roads from town to town, and to the
other point. Lengths are whole hectometres and times whole minutes leg by leg, so that the sums are
what a reader gets by adding up the legs.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import hypot

from agentgym_envs.sites.map.points import Point

DETOUR = 1.25  # within a town: length of the way by the length of a straight line


@dataclass(frozen=True)
class Mode:
    """A way of travelling.

    Attributes:
        name: in addresses.
        title: on pages.
        fixed_speed: km/h on every road; 0 where the road's own speed counts.
        town_speed: km/h within a town.
        uses_motorways: whether it may.
    """

    name: str
    title: str
    fixed_speed: int
    town_speed: int
    uses_motorways: bool = False


CAR = Mode("car", "Car", 0, 30, uses_motorways=True)
NO_MOTORWAYS = Mode("car-no-motorways", "Car without motorways", 0, 30)
BICYCLE = Mode("bicycle", "Bicycle", 17, 15)
FOOT = Mode("foot", "On foot", 5, 5)
MODES = {mode.name: mode for mode in (CAR, NO_MOTORWAYS, BICYCLE, FOOT)}


@dataclass(frozen=True)
class Road:
    """A road seen from one of its ends, which leads to the town `to`."""

    id: int
    name: str
    kind: str
    to: int
    hectometres: int
    speed: int


@dataclass(frozen=True)
class Network:
    """The towns' names and coordinates and, for each town, the roads that begin there."""

    names: dict[int, str]
    places: dict[int, tuple[float, float]]
    roads: dict[int, list[Road]]


@dataclass(frozen=True)
class Leg:
    """One instruction of a route with length and minutes. `road_id` is 0 within towns."""

    text: str
    hectometres: int
    minutes: int
    road_id: int = 0
    to: int = 0


@dataclass
class Way:
    """A way, leg by leg, with the sums."""

    mode: Mode
    legs: list[Leg] = field(default_factory=list)

    @property
    def hectometres(self) -> int:
        """Length in units of 100 m."""
        return sum(leg.hectometres for leg in self.legs)

    @property
    def minutes(self) -> int:
        """Time on the way."""
        return sum(leg.minutes for leg in self.legs)

    @property
    def km(self) -> str:
        """Length as pages write it: `84.3 km`."""
        return kilometres(self.hectometres)

    @property
    def time(self) -> str:
        """Time as pages write it: `1 h 12 min`."""
        return duration(self.minutes)


def kilometres(hectometres: int) -> str:
    """Write a length: `84.3 km`."""
    return f"{hectometres // 10:,}.{hectometres % 10} km"


def duration(minutes: int) -> str:
    """Write a time: `45 min`, `1 h 12 min`."""
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def minutes_for(hectometres: int, speed: int) -> int:
    """Return the whole minutes for a length at a speed in km/h, at least one."""
    return max(1, (12 * hectometres + speed) // (2 * speed))


def load_network(db: sqlite3.Connection) -> Network:
    """Read towns and roads."""
    towns = db.execute("SELECT id, name, x, y FROM towns ORDER BY id").fetchall()
    roads: dict[int, list[Road]] = {town["id"]: [] for town in towns}
    for row in db.execute("SELECT * FROM roads ORDER BY id"):
        ends = (row["town_a"], row["town_b"])
        for here, there in (ends, ends[::-1]):
            about = (row["id"], row["name"], row["kind"], there, row["hectometres"], row["speed"])
            roads[here].append(Road(*about))
    return Network(
        {town["id"]: town["name"] for town in towns},
        {town["id"]: (town["x"], town["y"]) for town in towns},
        roads,
    )


def find_way(network: Network, stops: Iterable[Point], mode: Mode) -> Way:
    """Return the quickest way along these points, of which there are at least two."""
    way = Way(mode)
    points = list(stops)
    for here, there in zip(points, points[1:], strict=False):
        if here.town_id == there.town_id:
            way.legs += _across_town(network, here, there, mode)
            continue
        way.legs += _leave(network, here, mode)
        way.legs += _between_towns(network, here.town_id, there.town_id, mode)
        way.legs += _arrive(network, there, mode)
    return way


def _between_towns(network: Network, start: int, goal: int, mode: Mode) -> list[Leg]:
    best: dict[int, tuple[int, int]] = {start: (0, 0)}
    came: dict[int, tuple[int, Road]] = {}
    queue = [(0, 0, start)]
    while queue:
        minutes, length, town = heapq.heappop(queue)
        if town == goal:
            break
        if (minutes, length) > best[town]:
            continue
        for road in network.roads[town]:
            if road.kind == "motorway" and not mode.uses_motorways:
                continue
            time = minutes_for(road.hectometres, mode.fixed_speed or road.speed)
            reached = (minutes + time, length + road.hectometres)
            if road.to not in best or reached < best[road.to]:
                best[road.to] = reached
                came[road.to] = (town, road)
                heapq.heappush(queue, (*reached, road.to))
    legs = []
    town = goal
    while town != start:
        before, road = came[town]
        time = minutes_for(road.hectometres, mode.fixed_speed or road.speed)
        text = f"Take the {road.kind} {road.name} to {network.names[town]}"
        legs.append(Leg(text, road.hectometres, time, road.id, town))
        town = before
    return legs[::-1]


def _leave(network: Network, point: Point, mode: Mode) -> list[Leg]:
    town = network.names[point.town_id]
    middle = network.places[point.town_id]
    text = f"Leave {point.name} along {point.street} and go to the centre of {town}"
    return [] if point.kind == "town" else [_town_leg(text, (point.x, point.y), middle, mode)]


def _arrive(network: Network, point: Point, mode: Mode) -> list[Leg]:
    town = network.names[point.town_id]
    middle = network.places[point.town_id]
    text = f"Go from the centre of {town} along {point.street} to {point.name}"
    return [] if point.kind == "town" else [_town_leg(text, middle, (point.x, point.y), mode)]


def _across_town(network: Network, here: Point, there: Point, mode: Mode) -> list[Leg]:
    if here.key == there.key:
        return []
    if "town" in (here.kind, there.kind):
        return _leave(network, here, mode) + _arrive(network, there, mode)
    text = f"Go from {here.name} along {there.street} to {there.name}"
    return [_town_leg(text, (here.x, here.y), (there.x, there.y), mode)]


def _town_leg(text: str, a: tuple[float, float], b: tuple[float, float], mode: Mode) -> Leg:
    hectometres = max(1, round(hypot(a[0] - b[0], a[1] - b[1]) * DETOUR * 10))
    return Leg(text, hectometres, minutes_for(hectometres, mode.town_speed))
