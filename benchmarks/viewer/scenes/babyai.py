"""BabyAI's scene: the whole grid at each turn, and the part of it that the agent sees.

Cells are numbers, y * width + x, in minigrid's coordinates.
"""

from __future__ import annotations

from typing import Any

from agentgym_envs.babyai.sight import GridMap


def about(env: Any) -> dict[str, Any]:
    """Return the grid's size and walls."""
    grid = env.level.grid
    walls = [cell for cell, thing in enumerate(grid.grid) if thing and thing.type == "wall"]
    return {"width": grid.width, "height": grid.height, "walls": walls}


def look(env: Any) -> dict[str, Any]:
    """Return the agent and the things, and the cells in view."""
    level = env.level
    width = level.grid.width
    x, y = (int(value) for value in level.agent_pos)
    things = [
        [cell, thing.type, thing.color, _state(thing)]
        for cell, thing in enumerate(level.grid.grid)
        if thing is not None and thing.type != "wall"
    ]
    carried = level.carrying
    return {
        "agent": y * width + x,
        "direction": int(level.agent_dir),
        "things": things,
        "seen": _seen(level),
        "carrying": None if carried is None else [carried.type, carried.color],
    }


def _state(thing: Any) -> str:
    if thing.type != "door":
        return ""
    return "open" if thing.is_open else "locked" if thing.is_locked else "closed"


def _seen(level: Any) -> list[int]:
    grid_map = GridMap(level)
    x, y = (int(value) for value in level.agent_pos)
    visible = grid_map.visible(grid_map.cell(x, y), int(level.agent_dir))
    positions = [(x, y), *map(grid_map.position, visible)]
    grid = level.grid
    return sorted(
        row * grid.width + column
        for column, row in positions
        if 0 <= column < grid.width and 0 <= row < grid.height
    )
