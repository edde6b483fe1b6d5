"""Maze's scene: the whole map, the agent's position and its earlier positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.maze.layouts import Cell, Maze
from agentgym_envs.maze.walk import Walk
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.scenes.replay import replay


def maze_scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about` and `turns` of an episode.

    Raises:
        NotReplayed: it cannot be played again.
    """
    env, turns = replay(trajectory, folder, lambda env, _: look(env.game))
    maze: Maze = env.game.maze  # type: ignore[attr-defined]
    free = {_number(cell, maze) for cell in maze.free}
    walls = sorted(set(range(maze.height * maze.width)) - free)
    goal = _number(maze.goal, maze)
    about = {"width": maze.width, "height": maze.height, "walls": walls, "goal": goal}
    return {"about": about, "turns": turns}


def look(walk: Walk) -> dict[str, Any]:
    """Return the agent's position and its earlier positions."""
    seen = sorted(_number(cell, walk.maze) for cell in walk.seen)
    return {"at": _number(walk.position, walk.maze), "seen": seen}


def _number(cell: Cell, maze: Maze) -> int:
    return cell[0] * maze.width + cell[1]
