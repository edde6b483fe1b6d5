"""What the actions that AgentGym's BabyAI lists would lead to, for the expert to choose from.

The original's paths take closed doors and cells out of sight for free; only those that hold on the
whole grid are of use.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentgym_envs.babyai.planner import Macro, Planner
from agentgym_envs.babyai.sight import CLOSED, FORWARD, LEFT, OPEN, RIGHT, TOGGLE

Edge = tuple[Macro, int, int | None]
"""A plan's step, its low-level moves, and the door it opens."""

_WALKS = ("go to ", "go through ", "toggle and go through ")


def walks(planner: Planner, actions: Mapping[str, list[int]]) -> list[Edge]:
    """List the actions that walk, as steps of a plan."""
    found = []
    for text, moves in actions.items():
        end = _follow(planner, moves) if text.startswith(_WALKS) and moves else None
        if end is not None and end[1] not in planner.kept_shut:
            pose, door = end
            found.append((Macro(text, pose=pose), len(moves), door))
    return found


def reaching(
    planner: Planner, actions: Mapping[str, list[int]], verb: str, wanted: frozenset[int]
) -> tuple[str, int] | None:
    """Find a listed action that fetches or walks up to one of the cells `wanted`.

    Returns:
        the action and the cell, or None.
    """
    start = {"pick up": "pickup ", "go to": "go to "}.get(verb)
    if start is None:
        return None
    for text, moves in actions.items():
        if text.startswith(start) and moves:
            path = moves[:-1] if verb == "pick up" else moves
            end = _follow(planner, path)
            if end is not None and planner.map.facing(end[0]) in wanted:
                return text, planner.map.facing(end[0])
    return None


def _follow(planner: Planner, moves: list[int]) -> tuple[int, int | None] | None:
    # The pose after the moves and the door they open; None where one of them would change nothing.
    codes = planner.map.codes
    pose, door = planner.start, None
    for move in moves:
        front = planner.map.facing(pose)
        if move in (LEFT, RIGHT):
            pose = pose // 4 * 4 + (pose + (1 if move == RIGHT else -1)) % 4
        elif move == FORWARD and (codes[front] <= OPEN or front == door):
            pose = front * 4 + pose % 4
        elif move == TOGGLE and codes[front] == CLOSED and planner.opens(planner.things[front]):
            door = front
        else:
            return None
    return pose, door
