"""Looks ahead over a whole grid: routes with their obstacles, and the fewest turns to a pose."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.babyai.mission import is_key_to
from agentgym_envs.babyai.sight import CLOSED, EMPTY, OPEN, THING, WALL, GridMap, moves_to

_STEP_COST, _DOOR_COST, THING_COST, LOCKED_COST = 1, 2, 20, 100
"""A route's costs: about the turns that each takes, a key's fetching included."""

_MAX_EXPANSIONS = 8000
"""Bounds one search; the largest level has 2,000 poses."""


@dataclass(frozen=True)
class Macro:
    """One text action of a plan.

    Attributes:
        verb: the action without its object, e.g. `"go to"`.
        thing: the object, if it takes one.
        pose: the pose after it; -1 where the plan ends with it.
    """

    verb: str
    thing: Any = None
    pose: int = -1


@dataclass(frozen=True)
class Route:
    """The cheapest way to a cell, through whatever is in the way.

    Attributes:
        cost: its cost.
        target: the cell it leads to.
        cells: the cells on it, the target left out.
        obstacles: those of them, the target included, that must be cleared first.
        keyed: locked doors on it that the key in hand opens.
    """

    cost: int
    target: int
    cells: list[int]
    obstacles: list[int]
    keyed: list[int]


@dataclass
class Outlook:
    """What a text action can lead to from a pose: the first pose found for each thing in view."""

    seen: set[int]
    facing: dict[int, int] = field(default_factory=dict)
    onto: dict[int, int] = field(default_factory=dict)
    came_from: dict[int, int] = field(default_factory=dict)


def pose_of(level: Any, grid_map: GridMap) -> int:
    """Return the agent's pose."""
    x, y = level.agent_pos
    return grid_map.cell(int(x), int(y)) * 4 + int(level.agent_dir)


Goal = Callable[[int, Outlook], bool]
"""Returns whether a plan may end at a pose."""


class Planner:
    """Plans over the state of a level.

    Args:
        level: the simulator.
        grid_map: its grid as codes, up to date.
        unit_moves: use no actions that walk farther than a cell or two, but for `first_edges`.

    Attributes:
        kept_shut: doors that a plan does not open on its way.
        first_edges: what else a plan may begin with: a step, its moves, the door it opens.
    """

    def __init__(self, level: Any, grid_map: GridMap, *, unit_moves: bool) -> None:
        self.map = grid_map
        self.unit_moves = unit_moves
        self.carrying = level.carrying
        self.kept_shut: frozenset[int] = frozenset()
        self.first_edges: list[tuple[Macro, int, int | None]] = []
        width = level.grid.width
        self.things = {
            grid_map.cell(index % width, index // width): thing
            for index, thing in enumerate(level.grid.grid)
            if thing is not None and thing.type != "wall"
        }
        self.start = pose_of(level, grid_map)

    def opens(self, door: Any) -> bool:
        """Return whether the agent could open a closed door as it is now."""
        return not door.is_locked or is_key_to(door, self.carrying)

    # Routes -----------------------------------------------------------------------------------

    def route(self, targets: Mapping[int, int], banned: Iterable[int] = ()) -> Route | None:
        """Find the cheapest route to one of `targets`.

        Args:
            targets: for each cell, the extra cost of it.
            banned: cells that count as walls.
        """
        start = self.start // 4
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
        while last != self.start // 4:
            cells.append(last)
            last = came_from[last]
        return cells[::-1]

    def _route(self, cost: int, target: int, cells: list[int], entry: int) -> Route:
        obstacles = [cell for cell in cells if (self._price(cell) or 0) >= THING_COST]
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
        if code == WALL:
            return None
        return _DOOR_COST if self.opens(self.things[cell]) else LOCKED_COST

    # Turns ------------------------------------------------------------------------------------

    def fewest_turns(self, goal: Goal) -> list[Macro] | None:
        """Find the fewest text actions to a pose of `goal`, low-level moves deciding ties.

        Nothing is picked up or dropped on the way; doors may be opened. A pose is visited once,
        with the doors that were open when it was first reached.
        """
        none: frozenset[int] = frozenset()
        queue: list[tuple[int, int, int, int, frozenset[int]]] = [(0, 0, 0, self.start, none)]
        reached: dict[int, tuple[int, Macro] | None] = {self.start: None}
        for _ in range(_MAX_EXPANSIONS):
            if not queue:
                return None
            turns, moves, _, pose, opened = heapq.heappop(queue)
            with _Opened(self.map, opened):
                outlook = self._outlook(pose)
                if goal(pose, outlook):
                    return _unwind(pose, reached)
                edges = list(self._edges(pose, outlook))
            if pose == self.start:
                edges += self.first_edges
            for macro, length, door in edges:
                if macro.pose not in reached:
                    reached[macro.pose] = (pose, macro)
                    doors = opened if door is None else opened | {door}
                    entry = (turns + 1, moves + length, len(reached), macro.pose, doors)
                    heapq.heappush(queue, entry)
        return None

    def _outlook(self, pose: int) -> Outlook:
        cell, direction = divmod(pose, 4)
        grid_map = self.map
        outlook = Outlook(set(grid_map.visible(cell, direction)))
        if self.unit_moves:
            outlook.facing[grid_map.facing(pose)] = pose
            outlook.came_from = {pose: -1}
            return outlook
        missing = {c for c in outlook.seen if c in self.things and c != cell}
        doors = {c for c in missing if grid_map.codes[c] == OPEN}
        if not missing:
            return outlook
        for here, came_from in grid_map.walk(pose, outlook.seen):
            outlook.came_from = came_from
            front = grid_map.facing(here)
            if front in missing:
                missing.discard(front)
                outlook.facing[front] = here
            if here // 4 in doors:
                doors.discard(here // 4)
                outlook.onto[here // 4] = here
            if not missing and not doors:
                break
        return outlook

    def _edges(self, pose: int, outlook: Outlook) -> Iterator[tuple[Macro, int, int | None]]:
        cell, direction = divmod(pose, 4)
        front = self.map.facing(pose)
        yield Macro("turn left", pose=cell * 4 + (direction - 1) % 4), 1, None
        yield Macro("turn right", pose=cell * 4 + (direction + 1) % 4), 1, None
        if self.map.codes[front] <= OPEN:
            yield Macro("move forward", pose=front * 4 + direction), 1, None
        for target, there in outlook.facing.items():
            thing = self.things.get(target)
            if thing is None:
                continue
            length = len(moves_to(there, outlook.came_from))
            if target != front:
                yield Macro("go to", thing, there), length, None
            if target not in self.kept_shut and self._may_open(target):
                beyond = self._beyond(target, there % 4)
                yield Macro("toggle and go through", thing, beyond), length + 3, target
        for target, there in outlook.onto.items():
            length = len(moves_to(there, outlook.came_from))
            beyond = self._beyond(target, there % 4)
            yield Macro("go through", self.things[target], beyond), length + 1, None

    def _may_open(self, cell: int) -> bool:
        return self.map.codes[cell] == CLOSED and self.opens(self.things[cell])

    def _beyond(self, door: int, direction: int) -> int:
        ahead = door + self.map.steps[direction]
        stays = self.unit_moves or self.map.codes[ahead] > OPEN
        return (door if stays else ahead) * 4 + direction

    # Places -----------------------------------------------------------------------------------

    def is_harmless(self, cell: int) -> bool:
        """Return whether a thing dropped there would neither part the free cells nor bar a door."""
        codes, stride = self.map.codes, self.map.stride
        if codes[cell] != EMPTY:
            return False
        around = (-stride, 1 - stride, 1, 1 + stride, stride, stride - 1, -1, -1 - stride)
        free = [codes[cell + offset] <= OPEN for offset in around]
        for offset in self.map.steps:
            if codes[cell + offset] in (OPEN, CLOSED):
                return False
        # Walk round the ring: free runs that hold a direct neighbour must be one.
        runs = 0
        for index in range(0, 8, 2):
            if free[index] and not (free[index - 1] and free[index - 2]):
                runs += 1
        return runs <= 1


class _Opened:
    """Opens doors of a map for a while."""

    def __init__(self, grid_map: GridMap, doors: frozenset[int]) -> None:
        self._codes = grid_map.codes
        self._doors = doors

    def __enter__(self) -> None:
        for door in self._doors:
            self._codes[door] = OPEN

    def __exit__(self, *_: object) -> None:
        for door in self._doors:
            self._codes[door] = CLOSED


def _unwind(pose: int, reached: dict[int, tuple[int, Macro] | None]) -> list[Macro]:
    plan = []
    while (entry := reached[pose]) is not None:
        pose, macro = entry
        plan.append(macro)
    return plan[::-1]
