"""Computes visible and reachable cells with the simulator's field of view, on integers.

A cell is an index into `GridMap.codes`, a grid padded with walls so that no view leaves it; a pose
is `cell * 4 + direction`. Directions are minigrid's: 0 right, 1 down, 2 left, 3 up. The same
functions serve the text layer and the expert's look-ahead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from functools import cache
from typing import Any

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE = range(6)
"""minigrid's low-level moves."""

EMPTY, OPEN, UNKNOWN, THING, CLOSED, WALL = range(6)
"""Codes of a cell. One can walk on codes up to OPEN and look past codes up to THING."""

VIEW = 7
"""The agent sees this many cells ahead (its own row included) and across."""

_PAD = VIEW - 1
_CENTRE = VIEW // 2


class GridMap:
    """The grid as codes.

    Args:
        level: a minigrid level after its reset.

    Attributes:
        codes: the code of each cell.
        steps: what one step in each direction adds to a cell.
    """

    def __init__(self, level: Any) -> None:
        self.stride: int = level.grid.width + 2 * _PAD
        self.steps = (1, self.stride, -1, -self.stride)
        self._rows = tuple(_view_rows(self.steps, direction) for direction in range(4))
        self.refresh(level)

    def blank(self) -> GridMap:
        """Return an unknown map, whose walls at the edges keep searches on it."""
        other, stride = copy(self), self.stride
        height = len(self.codes) // stride
        middle = [WALL, *[UNKNOWN] * (stride - 2), WALL] * (height - 2)
        other.codes = [WALL] * stride + middle + [WALL] * stride
        return other

    def frontier(self) -> set[int]:
        """Return the cells not yet known that known ones, other than walls, may lead to."""
        codes, steps = self.codes, self.steps
        ways = [cell for cell, code in enumerate(codes) if code != UNKNOWN and code != WALL]
        reached: set[int] = set()
        while ways:
            here = ways.pop()
            for step in steps:
                there = here + step
                if codes[there] == UNKNOWN and there not in reached:
                    reached.add(there)
                    ways.append(there)
        return reached

    def refresh(self, level: Any) -> None:
        """Read the grid again after something but the agent moved."""
        grid, width = level.grid.grid, level.grid.width
        codes = [WALL] * (self.stride * (level.grid.height + 2 * _PAD))
        for row in range(level.grid.height):
            start = self.cell(0, row)
            codes[start : start + width] = [
                EMPTY if thing is None else _code(thing)
                for thing in grid[row * width : (row + 1) * width]
            ]
        self.codes = codes

    def cell(self, x: int, y: int) -> int:
        """Return the cell at minigrid's coordinates."""
        return (y + _PAD) * self.stride + x + _PAD

    def position(self, cell: int) -> tuple[int, int]:
        """Return minigrid's coordinates of a cell."""
        y, x = divmod(cell, self.stride)
        return x - _PAD, y - _PAD

    def visible(self, cell: int, direction: int) -> list[int]:
        """List the cells that the agent sees, its own left out, far rows first, left to right."""
        codes = self.codes
        far_first: list[list[int]] = []
        seen = 1 << _CENTRE
        for row in self._rows[direction]:
            clear = 0
            for bit, offset in row:
                if codes[cell + offset] <= THING:
                    clear |= bit
            seen, above = _spread(seen, clear)
            far_first.append([cell + offset for bit, offset in row if seen & bit and offset])
            if not above:
                break
            seen = above
        return [visible for cells in reversed(far_first) for visible in cells]

    def reachable(self, cell: int, within: Collection[int]) -> set[int]:
        """Return the cells one can walk to over `within`, the start included."""
        codes, steps = self.codes, self.steps
        reached = {cell}
        frontier = [cell]
        while frontier:
            here = frontier.pop()
            for step in steps:
                there = here + step
                if there in within and there not in reached and codes[there] <= OPEN:
                    reached.add(there)
                    frontier.append(there)
        return reached

    def beside(self, target: int, cells: Collection[int]) -> bool:
        """Return whether one of `cells` touches `target`."""
        return any(target + step in cells for step in self.steps)

    def walk(self, pose: int, within: Collection[int]) -> Iterator[tuple[int, dict[int, int]]]:
        """Visit poses breadth first over `within`, forward before left before right.

        Yields:
            a pose, and for each pose found so far the pose it was reached from.
        """
        codes, steps = self.codes, self.steps
        came_from = {pose: -1}
        queue = [pose]
        for here in queue:
            yield here, came_from
            cell, direction = divmod(here, 4)
            ahead = cell + steps[direction]
            if ahead in within and codes[ahead] <= OPEN:
                there = ahead * 4 + direction
                if there not in came_from:
                    came_from[there] = here
                    queue.append(there)
            for turned in ((direction - 1) % 4, (direction + 1) % 4):
                there = cell * 4 + turned
                if there not in came_from:
                    came_from[there] = here
                    queue.append(there)

    def facing(self, pose: int) -> int:
        """Return the cell in front of a pose."""
        return pose // 4 + self.steps[pose % 4]

    def path_to_face(self, pose: int, target: int, within: Collection[int]) -> list[int] | None:
        """Return the shortest moves after which one stands before `target` and faces it."""
        for here, came_from in self.walk(pose, within):
            if self.facing(here) == target:
                return moves_to(here, came_from)
        return None

    def path_onto(self, pose: int, target: int, within: Collection[int]) -> list[int] | None:
        """Return the shortest moves that end on `target`."""
        for here, came_from in self.walk(pose, within):
            if here // 4 == target:
                return moves_to(here, came_from)
        return None


def moves_to(pose: int, came_from: dict[int, int]) -> list[int]:
    """Return the low-level moves that lead to a pose, given where each pose was reached from."""
    moves = []
    while came_from[pose] != -1:
        before = came_from[pose]
        if before // 4 != pose // 4:
            moves.append(FORWARD)
        else:
            moves.append(LEFT if (before - 1) % 4 == pose % 4 else RIGHT)
        pose = before
    return moves[::-1]


def _code(thing: Any) -> int:
    kind = thing.type
    if kind == "wall":
        return WALL
    if kind == "door":
        return OPEN if thing.is_open else CLOSED
    return THING


def _view_rows(
    steps: tuple[int, int, int, int], direction: int
) -> tuple[tuple[tuple[int, int], ...], ...]:
    # The agent's own row first; each row as (bit, offset from the agent's cell), left to right.
    ahead, right = steps[direction], steps[(direction + 1) % 4]
    return tuple(
        tuple((1 << i, ahead * row + right * (i - _CENTRE)) for i in range(VIEW))
        for row in range(VIEW)
    )


@cache
def _spread(seen: int, clear: int) -> tuple[int, int]:
    # One row of minigrid's Grid.process_vis: sight spreads right, then left, over clear cells, and
    # from each of them to the row ahead.
    above = 0
    for i in range(VIEW - 1):
        if seen & clear & (1 << i):
            seen |= 1 << (i + 1)
            above |= 0b11 << i
    for i in range(VIEW - 1, 0, -1):
        if seen & clear & (1 << i):
            seen |= 1 << (i - 1)
            above |= 0b11 << (i - 1)
    return seen, above
