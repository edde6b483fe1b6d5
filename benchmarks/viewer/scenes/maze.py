"""Maze's scene: the whole map, where one stands, and the cells where one has stood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.maze.layouts import HEIGHT, WIDTH, Cell
from agentgym_envs.trajectory import Trajectory
from benchmarks.viewer.scenes.replay import replay


def maze_scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about` and `turns` of an episode.

    Raises:
        NotReplayed: it cannot be played again.
    """
    env, turns = replay(trajectory, folder, lambda env, _: look(env))
    maze: Any = env.maze  # type: ignore[attr-defined]
    walls = sorted(set(range(HEIGHT * WIDTH)).difference(map(_number, maze.free)))
    about = {"width": WIDTH, "height": HEIGHT, "walls": walls, "goal": _number(maze.goal)}
    return {"about": about, "turns": turns}


def look(env: Any) -> dict[str, Any]:
    """Return where one is now, and where one has been."""
    return {"at": _number(env.position), "seen": sorted(map(_number, env.seen))}


def _number(cell: Cell) -> int:
    return cell[0] * WIDTH + cell[1]
