"""Finds the cheapest way to a cell, through whatever is in the way."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agentgym_envs.babyai.memory import Memory
from agentgym_envs.babyai.mission import is_key_to
from agentgym_envs.babyai.sight import CLOSED, OPEN, THING, UNKNOWN, WALL

_STEP_COST, _DOOR_COST, _UNKNOWN_COST, THING_COST, LOCKED_COST = 1, 2, 3, 20, 100
"""A route's costs: about the turns that each takes, a key's fetching included."""


@dataclass(frozen=True)
class Route:
    """The cheapest way to a cell.

    Attributes:
        cost: its cost.
        target: the cell it leads to.
        cells: the cells on it, the target left out.
        obstacles: those of them, the target included, that must be seen or cleared first.
        keyed: locked doors on it that the key in hand opens.
    """

    cost: int
    target: int
    cells: list[int]
    obstacles: list[int]
    keyed: list[int]


class Routes:
    """Finds routes over the known part of a level.

    Args:
        memory: what is known.
        start: the cell where they begin.
        carrying: what is in hand, or None.
    """

    def __init__(self, memory: Memory, start: int, carrying: Any) -> None:
        self.map = memory.map
        self.things = memory.things
        self.carrying = carrying
        self._start = start

    def opens(self, door: Any) -> bool:
        """Return whether the agent could open a closed door as it is now."""
        return not door.is_locked or is_key_to(door, self.carrying)

    def route(self, targets: Mapping[int, int], banned: Iterable[int] = ()) -> Route | None:
        """Find the cheapest route to one of `targets`.

        Args:
            targets: for each cell, the extra cost of it.
            banned: cells that count as walls.
        """
        start = self._start
        if not targets:
            return None
        closed = set(banned)
        best: dict[int, int] = {start: 0}
        came_from: dict[int, int] = {}
        # cost, cell, and for an arrival at a target the cell before it.
        queue = [(0, start, -1)]
        if start in targets:
            queue.append((targets[start], start, start))
        while queue:
            cost, cell, last = heapq.heappop(queue)
            if last != -1:
                return self._route(cost, cell, self._cells(last, came_from), targets[cell])
            if cost > best[cell]:
                continue
            for step in self.map.steps:
                there = cell + step
                if there in targets and there != start:
                    heapq.heappush(queue, (cost + targets[there], there, cell))
                price = self._price(there)
                if price is None or there in closed:
                    continue
                if cost + price < best.get(there, 1 << 30):
                    best[there] = cost + price
                    came_from[there] = cell
                    heapq.heappush(queue, (cost + price, there, -1))
        return None

    def _cells(self, last: int, came_from: dict[int, int]) -> list[int]:
        cells = []
        while last != self._start:
            cells.append(last)
            last = came_from[last]
        return cells[::-1]

    def _route(self, cost: int, target: int, cells: list[int], entry: int) -> Route:
        obstacles = [
            cell
            for cell in cells
            if self.map.codes[cell] == UNKNOWN or (self._price(cell) or 0) >= THING_COST
        ]
        keyed = [
            cell
            for cell in cells
            if self.map.codes[cell] == CLOSED
            and self.things[cell].is_locked
            and cell not in obstacles
        ]
        if entry >= THING_COST:
            obstacles.append(target)
        return Route(cost, target, cells, obstacles, keyed)

    def _price(self, cell: int) -> int | None:
        code = self.map.codes[cell]
        if code <= OPEN:
            return _STEP_COST
        if code == THING:
            return THING_COST
        if code == UNKNOWN:
            return _UNKNOWN_COST
        if code == WALL:
            return None
        return _DOOR_COST if self.opens(self.things[cell]) else LOCKED_COST
