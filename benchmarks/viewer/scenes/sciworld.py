"""SciWorld's scene: the score before and after each turn, from the record alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory, Turn


def scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about` and `turns` of an episode."""
    turns = trajectory.turns
    scores = [_at_start(turns[0]), *(turn.score for turn in turns)] if turns else [trajectory.score]
    before = [scores[0], *scores[:-1]]
    steps = [
        {"score": score, "gained": round(score - last, 4)}
        for score, last in zip(scores, before, strict=True)
    ]
    return {"about": {}, "turns": steps}


def _at_start(turn: Turn) -> float:
    """Return the score before the first turn: the room may be worth points from the start."""
    # The original pays in points of a hundred, and takes points for a failure.
    gained = turn.reward if abs(turn.reward) <= 1 else turn.reward / 100
    return min(max(round(turn.score - gained, 4), 0.0), 1.0)
