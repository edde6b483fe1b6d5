"""Wordle's scene: the guesses with their marks, and how many words still fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from agentgym_envs.wordle.game import NUM_GUESSES, Game
from agentgym_envs.wordle.lists import NUM_LETTERS
from benchmarks.viewer.scenes.replay import replay


def wordle_scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about` and `turns` of an episode.

    Raises:
        NotReplayed: it cannot be played again.
    """
    _, turns = replay(trajectory, folder, lambda env, _: look(env.game))
    return {"about": {"rows": NUM_GUESSES, "columns": NUM_LETTERS}, "turns": turns}


def look(game: Game) -> dict[str, Any]:
    """Return the guesses until now."""
    return {
        "guesses": [[word[:NUM_LETTERS], marks] for word, marks in game.guesses],
        "fitting": len(game.fitting()),
        "words": len(game.words.words),
    }
