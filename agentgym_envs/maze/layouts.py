"""Lays mazes out: LMRL-Gym's double T, and corridors and rooms drawn from a task's number.

A cell is (row, column); rows grow downwards and columns to the right. What is no free cell is wall.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

Cell = tuple[int, int]

HEIGHT, WIDTH = 10, 13
"""Cells of a maze, its outer walls included, as in the original."""

DIRECTIONS: Mapping[str, Cell] = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}

_DOUBLE_T = (
    ((1, 1), (1, 5)),
    ((1, 7), (1, 11)),
    ((2, 3), (5, 3)),
    ((5, 4), (5, 6)),
    ((6, 6), (7, 6)),
    ((5, 7), (5, 9)),
    ((4, 9), (2, 9)),
)
"""Corridors from cell to cell.

The cells in this order are AgentGym's start positions 0 to 24.
"""

_DOUBLE_T_GOAL = (8, 6)

_SHORTEST, _LONGEST = 2, 5
"""Cells of a corridor that is drawn."""

NEAREST, FARTHEST = 4, 12
"""Moves from start to goal in a drawn maze. In the double T there are 1 to 12."""

ROOMS = 4
"""Rooms per row and column of a maze of rooms, and cells per row and column of a room."""

ROOMS_NEAREST, ROOMS_FARTHEST, ROOMS_DETOUR = 15, 30, 8
"""Moves from start to goal between rooms, and how many more they are than rows and columns."""

Draw = Callable[[], float]


@dataclass(frozen=True)
class Maze:
    """One task's maze.

    Attributes:
        free: the cells that are no wall.
        start, goal: free cells.
        height, width: in cells, the outer walls included.
    """

    free: frozenset[Cell]
    start: Cell
    goal: Cell
    height: int = HEIGHT
    width: int = WIDTH

    def is_wall(self, cell: Cell, direction: str) -> bool:
        """Return whether there is a wall beside a free cell."""
        return moved(cell, direction) not in self.free


def moved(cell: Cell, direction: str) -> Cell:
    """Return the cell beside another one."""
    down, right = DIRECTIONS[direction]
    return cell[0] + down, cell[1] + right


def distances(free: frozenset[Cell], goal: Cell) -> dict[Cell, int]:
    """Return how many moves the goal is away from each free cell."""
    known = {goal: 0}
    queue = deque([goal])
    while queue:
        cell = queue.popleft()
        for direction in DIRECTIONS:
            beside = moved(cell, direction)
            if beside in free and beside not in known:
                known[beside] = known[cell] + 1
                queue.append(beside)
    return known


@cache
def double_t_starts() -> tuple[Cell, ...]:
    """Return the start positions of AgentGym's tasks, by number."""
    return tuple(cell for corridor in _DOUBLE_T for cell in _between(*corridor))


def double_t(number: int) -> Maze:
    """Return the maze of one of AgentGym's tasks."""
    starts = double_t_starts()
    return Maze(frozenset((*starts, _DOUBLE_T_GOAL)), starts[number], _DOUBLE_T_GOAL)


def _between(first: Cell, last: Cell) -> Iterator[Cell]:
    (row, column), (end_row, end_column) = first, last
    length = max(abs(end_row - row), abs(end_column - column))
    for step in range(length + 1):
        yield (
            row + step * (end_row - row) // length,
            column + step * (end_column - column) // length,
        )


@lru_cache(maxsize=4096)  # groups of episodes play the same task
def corridors(number: int, count: int) -> Maze:
    """Draw a maze of straight corridors that form no loop, as the double T is one.

    Only `random()` of Python's generator is used, whose stream Python promises to keep.

    Args:
        number: the task's.
        count: how many corridors there are.
    """
    draw = random.Random(f"maze/{number}").random
    while True:
        goal = (1 + int(draw() * (HEIGHT - 2)), 1 + int(draw() * (WIDTH - 2)))
        free = [goal]
        for _ in range(count):
            free += _corridor(free, draw)
        far = distances(frozenset(free), goal)
        starts = [
            cell
            for cell in free
            if NEAREST <= far[cell] <= FARTHEST and far[cell] > _straight(cell, goal)
        ]
        if starts:
            return Maze(frozenset(free), starts[int(draw() * len(starts))], goal)


@lru_cache(maxsize=1024)
def rooms(number: int) -> Maze:
    """Draw a maze of rooms with doors between them that form no loop.

    Args:
        number: the task's.
    """
    draw = random.Random(f"maze/rooms/{number}").random
    size = ROOMS * (ROOMS + 1) + 1
    inside = {
        (row, column)
        for row in range(size)
        for column in range(size)
        if row % (ROOMS + 1) and column % (ROOMS + 1)
    }
    while True:
        cells = sorted(inside | _doors(draw))
        goal = cells[int(draw() * len(cells))]
        far = distances(frozenset(cells), goal)
        starts = [
            cell
            for cell in cells
            if ROOMS_NEAREST <= far[cell] <= ROOMS_FARTHEST
            and far[cell] >= _straight(cell, goal) + ROOMS_DETOUR
        ]
        if starts:
            return Maze(frozenset(cells), starts[int(draw() * len(starts))], goal, size, size)


def _doors(draw: Draw) -> set[Cell]:
    """Draw the cells that join all rooms, one between two rooms."""
    joined: list[Cell] = [(int(draw() * ROOMS), int(draw() * ROOMS))]
    doors = set()
    while len(joined) < ROOMS**2:
        row, column = joined[int(draw() * len(joined))]
        beside = moved((row, column), tuple(DIRECTIONS)[int(draw() * len(DIRECTIONS))])
        place = 1 + int(draw() * ROOMS)
        if beside in joined or not all(0 <= each < ROOMS for each in beside):
            continue
        joined.append(beside)
        wall_row, wall_column = max(row, beside[0]), max(column, beside[1])
        across = (wall_row * (ROOMS + 1), column * (ROOMS + 1) + place)
        along = (row * (ROOMS + 1) + place, wall_column * (ROOMS + 1))
        doors.add(along if row == beside[0] else across)
    return doors


def _straight(cell: Cell, goal: Cell) -> int:
    return abs(cell[0] - goal[0]) + abs(cell[1] - goal[1])


def _corridor(free: list[Cell], draw: Draw) -> list[Cell]:
    """Draw a corridor that begins beside a free cell and touches no other."""
    taken = set(free)
    while True:
        cell = free[int(draw() * len(free))]
        direction = tuple(DIRECTIONS)[int(draw() * len(DIRECTIONS))]
        length = _SHORTEST + int(draw() * (_LONGEST - _SHORTEST + 1))
        dug: list[Cell] = []
        while len(dug) < length:
            before, cell = cell, moved(cell, direction)
            is_inside = 0 < cell[0] < HEIGHT - 1 and 0 < cell[1] < WIDTH - 1
            beside = {moved(cell, each) for each in DIRECTIONS} - {before}
            if not is_inside or cell in taken or not beside.isdisjoint(taken):
                break
            dug.append(cell)
        if len(dug) >= _SHORTEST:
            return dug
