"""The mean advantage of each turn's tokens, which training credited the turn with."""

from __future__ import annotations

from statistics import fmean
from typing import TypedDict

from agentgym_envs.trajectory import Trajectory
from benchmarks.viewer.scenes.tokens import turns_of


class Credits(TypedDict):
    """Advantages of one episode.

    Attributes:
        turns: the mean of each turn's sampled tokens; None where nothing was sampled.
        mean: of all sampled tokens.
        most: the largest size among them, which a scale of colours ends with.
    """

    turns: list[float | None]
    mean: float
    most: float


def credits_of(trajectory: Trajectory) -> Credits | None:
    """Return an episode's advantages, or None where none was recorded."""
    of_turns: list[list[float]] = [[] for _ in trajectory.turns]
    first_turn = 0
    for trace in trajectory.traces:
        turns = turns_of(trace.action_mask, first_turn)
        sampled = [place for place, mask in enumerate(trace.action_mask) if mask]
        first_turn = turns[sampled[-1]] + 1 if sampled else first_turn
        for place in sampled if trace.advantages else ():
            of_turns[turns[place]].append(trace.advantages[place])
    every = [value for values in of_turns for value in values]
    if not every:
        return None
    return {
        "turns": [round(fmean(values), 4) if values else None for values in of_turns],
        "mean": round(fmean(every), 4),
        "most": round(max(map(abs, every)), 4),
    }
