"""Wordle's scene: the guesses with their marks, and how many words still fit."""

from __future__ import annotations

from typing import Any

from agentgym_envs.wordle.env import WordleEnv
from agentgym_envs.wordle.game import NUM_GUESSES
from agentgym_envs.wordle.lists import NUM_LETTERS


def about(env: WordleEnv) -> dict[str, Any]:
    """Return the numbers of guesses and letters."""
    return {"rows": NUM_GUESSES, "columns": NUM_LETTERS}


def look(env: WordleEnv) -> dict[str, Any]:
    """Return the guesses until now."""
    game = env.game
    return {
        "guesses": [[word[:NUM_LETTERS], marks] for word, marks in game.guesses],
        "fitting": len(game.candidates()),
        "words": len(game.words.words),
    }
