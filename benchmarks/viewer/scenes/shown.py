"""Makes an episode's scene by its environment's id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.scenes.replay import NotReplayed

KINDS = {
    f"agentgym/{name}-v0": name.lower()
    for name in (
        *("ALFWorld", "BabyAI", "Maze", "TextCraft", "SciWorld", "SearchQA", "WebArena"),
        *("SQL", "WebShop", "Wordle"),
    )
} | {"agentgym/WebArenaOfficial-v0": "webarena"}
"""The environments that have scenes; a record can name no other one to be made."""


def scene(trajectory: Trajectory, folder: str | Path | None = None) -> dict[str, Any]:
    """Return an episode's scene.

    Args:
        trajectory: the episode.
        folder: where its file is; what it was played with is noted down there, or one above.

    Returns:
        JSON values, as the package's description says.
    """
    kind = KINDS.get(trajectory.env_id)
    if kind is None:
        return {"kind": None, "about": {}, "turns": None, "reason": None}
    try:
        content = _made(kind, trajectory, folder)
    except NotReplayed as error:
        return {"kind": kind, "about": {}, "turns": None, "reason": str(error)}
    return {"kind": kind, "reason": None, **content}


def _made(kind: str, trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    # Imported late: each brings its environment's packages.
    if kind == "alfworld":
        from benchmarks.viewer.scenes.alfworld import alfworld_scene

        return alfworld_scene(trajectory, folder)
    if kind == "babyai":
        from benchmarks.viewer.scenes.babyai import babyai_scene

        return babyai_scene(trajectory, folder)
    if kind == "maze":
        from benchmarks.viewer.scenes.maze import maze_scene

        return maze_scene(trajectory, folder)
    if kind == "wordle":
        from benchmarks.viewer.scenes.wordle import wordle_scene

        return wordle_scene(trajectory, folder)
    if kind == "textcraft":
        from benchmarks.viewer.scenes.textcraft import textcraft_scene

        return textcraft_scene(trajectory, folder)
    if kind == "sciworld":
        from benchmarks.viewer.scenes.sciworld import sciworld_scene

        return sciworld_scene(trajectory)
    if kind == "searchqa":
        from benchmarks.viewer.scenes.searchqa import searchqa_scene

        return searchqa_scene(trajectory, folder)
    if kind == "sql":
        from benchmarks.viewer.scenes.sql import sql_scene

        return sql_scene(trajectory, folder)
    if kind == "webshop":
        from benchmarks.viewer.scenes.webshop import webshop_scene

        return webshop_scene(trajectory, folder)
    from benchmarks.viewer.scenes.webarena import webarena_scene

    return webarena_scene(trajectory, folder)
