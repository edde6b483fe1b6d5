"""Maze's scene: the whole map, the agent's position and its earlier positions."""

from __future__ import annotations

from typing import Any

from agentgym_envs.maze.env import MazeEnv
from agentgym_envs.maze.layouts import Cell, Maze


def about(env: MazeEnv) -> dict[str, Any]:
    """Return the map."""
    maze = env.game.maze
    free = {_number(cell, maze) for cell in maze.free}
    walls = sorted(set(range(maze.height * maze.width)) - free)
    goal = _number(maze.goal, maze)
    return {"width": maze.width, "height": maze.height, "walls": walls, "goal": goal}


def look(env: MazeEnv) -> dict[str, Any]:
    """Return the agent's position and its earlier positions."""
    walk = env.game
    seen = sorted(_number(cell, walk.maze) for cell in walk.seen)
    return {"at": _number(walk.position, walk.maze), "seen": seen}


def _number(cell: Cell, maze: Maze) -> int:
    return cell[0] * maze.width + cell[1]
