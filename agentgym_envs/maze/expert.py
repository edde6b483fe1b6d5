"""Walks to the goal by the walls seen on the way, by the whole map, and by simpler rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.maze.layouts import DIRECTIONS, Cell, distances, moved
from agentgym_envs.maze.walk import Walk

MAX_MOVES = 200
"""Most moves of an expert whose moves are not played."""

_AWAY = {"left": "to the left", "right": "to the right", "up": "above", "down": "below"}
_BACK = {"left": "to the left", "right": "to the right", "up": "up", "down": "down"}
_RIGHT_OF = {"left": "up", "up": "right", "right": "down", "down": "left"}
"""By the direction that one faces."""


def explore(walk: Walk) -> Iterator[ExpertMove]:
    """Yield moves along the shortest way through cells not known as wall, replanned each cell.

    What was not seen is taken for free (planning with the freespace assumption, Koenig, Tovey and
    Smirnov 2003), so it comes to every goal that can be reached.
    """
    return _moves(walk, lambda: _next_step(walk))


def shortest(walk: Walk) -> Iterator[ExpertMove]:
    """Yield moves along the shortest way of all."""
    far = distances(walk.maze.free, walk.maze.goal)

    def nearest() -> ExpertMove:
        open_ways = [each for each in DIRECTIONS if not walk.maze.is_wall(walk.position, each)]
        return _move(min(open_ways, key=lambda each: far[moved(walk.position, each)]))

    return _moves(walk, nearest)


# Baselines ----------------------------------------------------------------------------------------


def toward_goal(walk: Walk) -> Iterator[ExpertMove]:
    """Yield moves that come nearer to the goal where no wall is, else go any open way."""

    def next_move() -> ExpertMove:
        open_ways = walk.seen[walk.position]
        return _move(next((way for way in _toward(walk) if way in open_ways), open_ways[0]))

    return _moves(walk, next_move)


def right_hand(walk: Walk) -> Iterator[ExpertMove]:
    """Yield moves that keep the right hand at the wall."""
    facing = "down"

    def next_move() -> ExpertMove:
        nonlocal facing
        facing = _RIGHT_OF[facing]
        while facing not in walk.seen[walk.position]:
            facing = _RIGHT_OF[_RIGHT_OF[_RIGHT_OF[facing]]]
        return _move(facing)

    return _moves(walk, next_move)


def nearest_unvisited(walk: Walk) -> Iterator[ExpertMove]:
    """Yield moves to the nearest cell where one has not stood, of several the one at the goal."""
    return _moves(walk, lambda: _move(_to_unvisited(walk, lambda moves, left: (moves, left))))


def best_first(walk: Walk) -> Iterator[ExpertMove]:
    """Yield moves to where one has not stood, fewest moves there and on to the goal."""
    return _moves(
        walk, lambda: _move(_to_unvisited(walk, lambda moves, left: (moves + left, left)))
    )


# Parts --------------------------------------------------------------------------------------------


def _moves(walk: Walk, next_move: Callable[[], ExpertMove]) -> Iterator[ExpertMove]:
    for _ in range(MAX_MOVES):
        if walk.is_over:
            return
        yield next_move()


def _move(direction: str, thought: str = "") -> ExpertMove:
    return ExpertMove(f"move {direction}", thought)


def _to_unvisited(walk: Walk, cost: Callable[[int, int], tuple[int, int]]) -> str:
    """Return the first move to the unvisited cell of least cost.

    Args:
        walk: the walk so far.
        cost: of the moves to a cell, and of its rows and columns to the goal.
    """
    ways: dict[Cell, tuple[str, int]] = {walk.position: ("", 0)}
    queue: deque[Cell] = deque([walk.position])
    unvisited: list[Cell] = []
    while queue:
        cell = queue.popleft()
        first, moves = ways[cell]
        if cell not in walk.seen:
            unvisited.append(cell)
            continue
        for way in walk.seen[cell]:
            beside = moved(cell, way)
            if beside not in ways:
                ways[beside] = (first or way, moves + 1)
                queue.append(beside)
    return ways[min(unvisited, key=lambda cell: cost(ways[cell][1], _left(walk, cell)))][0]


def _left(walk: Walk, cell: Cell) -> int:
    return abs(cell[0] - walk.maze.goal[0]) + abs(cell[1] - walk.maze.goal[1])


def _toward(walk: Walk) -> list[str]:
    """Return the directions that come nearer to the goal, that of the longer part first."""
    down = walk.maze.goal[0] - walk.position[0]
    right = walk.maze.goal[1] - walk.position[1]
    parts = (("down" if down > 0 else "up", down), ("right" if right > 0 else "left", right))
    ways = sorted(parts, key=lambda part: -abs(part[1]))
    return [way for way, distance in ways if distance]


def _next_step(walk: Walk) -> ExpertMove:
    direction = _planned(walk)
    toward = _toward(walk)
    where = f"The goal is {' and '.join(_AWAY[way] for way in toward)}"
    if moved(walk.position, direction) in walk.seen:
        return _move(
            direction, f"{where}, but the shortest way that remains leads back {_BACK[direction]}."
        )
    if direction in toward:
        return _move(direction, f"{where}, and there is no wall {_AWAY[direction]}.")
    walls = [_AWAY[way] for way in toward if way not in walk.seen[walk.position]]
    if walls:
        there_is = "there is a wall" if len(walls) == 1 else "there are walls"
        return _move(direction, f"{where}, but {there_is} {' and '.join(walls)}: I go round.")
    return _move(direction, f"{where}, but that way was no good: I go round.")


def _planned(walk: Walk) -> str:
    """Return the first move of the shortest way, unseen cells taken for free."""
    goal, start = walk.maze.goal, walk.position
    rows, columns = zip(goal, *walk.seen, strict=True)
    # Walls were seen one cell beside it, so a way round them is within two.
    box = (min(rows) - 2, max(rows) + 2, min(columns) - 2, max(columns) + 2)
    order = list(dict.fromkeys((*_toward(walk), *DIRECTIONS)))
    order.sort(key=lambda way: moved(start, way) in walk.seen)  # turning back comes last of equals
    first: dict[Cell, str] = {}
    queue: deque[Cell] = deque([start])
    while queue:
        cell = queue.popleft()
        if cell == goal:
            return first[goal]
        for way in order:
            beside = moved(cell, way)
            is_inside = box[0] <= beside[0] <= box[1] and box[2] <= beside[1] <= box[3]
            if beside == start or beside in first or not is_inside or walk.is_known_wall(beside):
                continue
            first[beside] = first.get(cell, way)
            queue.append(beside)
    raise AssertionError("every free cell can be reached")
