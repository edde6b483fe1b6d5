"""An episode's tokens with text, probability, advantage, and whether they were sampled."""

from __future__ import annotations

from math import exp
from pathlib import Path
from statistics import fmean
from typing import Any, TypedDict

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory
from benchmarks.viewer.scenes.tokenizers import Reader, find_reader


def tokens(trajectory: Trajectory, folder: str | Path | None = None) -> dict[str, Any] | None:
    """Return an episode's tokens as this package's description says, or None where it has none.

    The model's tokenizer is searched in `folder`, the folder above, and by the policy's name.
    """
    if not trajectory.traces:
        return None
    reader, reason = find_reader(trajectory, folder)
    traces = []
    first_turn = _num_given(trajectory)
    for trace in trajectory.traces:
        turns = turn_numbers(trace.action_mask, first_turn)
        first_turn += _num_turns(trace.action_mask)
        traces.append(_values(trace, turns, reader))
    return {
        "tokenizer": None if reader is None else reader.name,
        "reason": reason,
        "has_advantages": any(trace.advantages for trace in trajectory.traces),
        "traces": traces,
    }


def turn_numbers(action_mask: list[int], first_turn: int = 0) -> list[int]:
    """Return the turn (T,) of each token. A turn ends with its run of sampled tokens.

    `action_mask` is (T,) of one trace, whose first turn is `first_turn`. Tokens after the last run
    belong to the turn that did not come.
    """
    turn, was_sampled = first_turn, False
    turns = []
    for sampled in action_mask:
        turn += was_sampled and not sampled
        was_sampled = bool(sampled)
        turns.append(turn)
    return turns


def _num_given(trajectory: Trajectory) -> int:
    """Return the number of an expert's turns before those that have tokens."""
    return sum(not turn.trained for turn in trajectory.turns)


def _num_turns(action_mask: list[int]) -> int:
    return sum(
        1 for last, mask in zip([0, *action_mask], action_mask, strict=False) if mask and not last
    )


def _values(trace: TokenTrace, turns: list[int], reader: Reader | None) -> dict[str, Any]:
    prompt_texts = texts = None
    if reader is not None:
        every = reader.pieces(trace.ids)
        prompt_texts, texts = every[: len(trace.prompt_ids)], every[len(trace.prompt_ids) :]
    sampled = list(map(bool, trace.action_mask))
    advantages = None
    if trace.advantages:
        both = zip(trace.advantages, sampled, strict=True)
        advantages = [value if is_sampled else None for value, is_sampled in both]
    return {
        "prompt_ids": trace.prompt_ids,
        "prompt_texts": prompt_texts,
        "ids": trace.completion_ids,
        "texts": texts,
        "mask": trace.action_mask,
        "probabilities": [
            round(exp(min(logprob, 0.0)), 6) if is_sampled else None
            for logprob, is_sampled in zip(trace.logprobs, sampled, strict=True)
        ],
        "advantages": advantages,
        "turns": turns,
    }


class Credits(TypedDict):
    """An episode's advantages: each turn's mean or None, the mean and the largest size."""

    turns: list[float | None]
    mean: float
    most: float


def episode_credits(trajectory: Trajectory) -> Credits | None:
    """Return an episode's advantages, or None where none was recorded."""
    by_turn: list[list[float]] = [[] for _ in trajectory.turns]
    first_turn = _num_given(trajectory)
    for trace in trajectory.traces:
        turns = turn_numbers(trace.action_mask, first_turn)
        sampled = [place for place, mask in enumerate(trace.action_mask) if mask]
        first_turn = turns[sampled[-1]] + 1 if sampled else first_turn
        for place in sampled if trace.advantages else ():
            by_turn[turns[place]].append(trace.advantages[place])
    every = [value for values in by_turn for value in values]
    if not every:
        return None
    return {
        "turns": [round(fmean(values), 4) if values else None for values in by_turn],
        "mean": round(fmean(every), 4),
        "most": round(max(map(abs, every)), 4),
    }
