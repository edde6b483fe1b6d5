"""Finds the paths that AgentGym's BabyAI takes."""

from __future__ import annotations

from agentgym_envs.babyai.sight import FORWARD, LEFT, RIGHT, VIEW

Pose = tuple[int, int, int]
"""x, y, direction."""

DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Changes of x and y by a step, by direction."""


def find_path(
    pose: Pose, target: tuple[int, int], solid: set[tuple[int, int]], *, onto: bool = False
) -> list[int] | None:
    """Find the moves that the original takes.

    Its search pushes a pose once for each way to reach it. Poses of one depth are then handled in
    the order in which they were pushed first; the way back is the one that was pushed last. Both
    orders are kept here, layer by layer, with each pose once.

    Args:
        pose: where the agent is.
        target: the position to reach.
        solid: positions that cannot be walked on, as far as the agent sees.
        onto: end on the target rather than facing it.

    Returns:
        low-level moves, or None where it finds no path.
    """
    xs, ys = _bounds(pose)
    came_from: dict[Pose, tuple[Pose, int]] = {}
    visited: set[Pose] = set()
    first_order = last_order = [pose]
    while first_order:
        for x, y, direction in first_order:
            dx, dy = (0, 0) if onto else DIRECTIONS[direction]
            if (x + dx, y + dy) == target:
                return _unwind((x, y, direction), pose, came_from)
        visited.update(first_order)
        pushed = [edge for here in first_order for edge in _edges(here, xs, ys, solid, visited)]
        first_order = list(dict.fromkeys(there for there, _, _ in pushed))
        pushed = [edge for here in last_order for edge in _edges(here, xs, ys, solid, visited)]
        came_from.update({there: (here, move) for there, here, move in pushed})
        last_order = list(dict.fromkeys(there for there, _, _ in reversed(pushed)))[::-1]
    return None


def _bounds(pose: Pose) -> tuple[range, range]:
    # The square of the view; on two of its sides the original lets one row more be walked on.
    ranges = []
    for axis in (0, 1):
        forward = DIRECTIONS[pose[2]][axis]
        right = DIRECTIONS[(pose[2] + 1) % 4][axis]
        corner = pose[axis] + forward * (VIEW - 1) - right * (VIEW // 2)
        border = corner + VIEW * (right - forward)
        ranges.append(range(border, corner + 1) if border < corner else range(corner, border))
    return ranges[0], ranges[1]


def _edges(
    here: Pose, xs: range, ys: range, solid: set[tuple[int, int]], visited: set[Pose]
) -> list[tuple[Pose, Pose, int]]:
    x, y, direction = here
    dx, dy = DIRECTIONS[direction]
    candidates = (
        ((x + dx, y + dy, direction), FORWARD),
        ((x, y, (direction - 1) % 4), LEFT),
        ((x, y, (direction + 1) % 4), RIGHT),
    )
    return [
        (there, here, move)
        for there, move in candidates
        if there not in visited
        and there[0] in xs
        and there[1] in ys
        and (there[0], there[1]) not in solid
    ]


def _unwind(there: Pose, start: Pose, came_from: dict[Pose, tuple[Pose, int]]) -> list[int]:
    moves = []
    while there != start:
        there, move = came_from[there]
        moves.append(move)
    return moves[::-1]
