"""BabyAI's scene: the whole grid at each turn, and the part of it that the agent sees.

Cells are numbers, y * width + x, in minigrid's coordinates.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.babyai.sight import GridMap
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.scenes.replay import replay


def babyai_scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about` and `turns` of an episode.

    Raises:
        NotReplayed: it cannot be played again.
    """
    env, turns = replay(trajectory, folder, lambda env, _: look(env))
    level: Any = env.level  # type: ignore[attr-defined]
    grid = level.grid
    walls = [cell for cell, thing in enumerate(grid.grid) if thing and thing.type == "wall"]
    return {"about": {"width": grid.width, "height": grid.height, "walls": walls}, "turns": turns}


def look(env: Any) -> dict[str, Any]:
    """Return where everything is now."""
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
