"""SQL's scene: the result of the last statement, and whether it is the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.sql.env import NUM_SHOWN, SQLEnv
from agentgym_envs.sql.values import cell
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.scenes.replay import replay


def sql_scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about` and `turns` of an episode.

    Raises:
        NotReplayed: it cannot be played again.
    """
    env, turns = replay(trajectory, folder, lambda env, _: look(env))
    assert isinstance(env, SQLEnv)
    question = env.question
    about = {"question": question.text, "database": question.database, "level": question.level}
    return {"about": about, "turns": turns}


def look(env: SQLEnv) -> dict[str, Any]:
    """Return the first rows of the last result, without columns before the first one."""
    result = env.result
    if result is None:
        return {"columns": [], "rows": [], "more": False, "right": False}
    return {
        "columns": list(result.columns),
        "rows": [[cell(value) for value in row] for row in result.rows[:NUM_SHOWN]],
        "more": result.has_more or len(result.rows) > NUM_SHOWN,
        "right": not env.why_wrong(result),
    }
