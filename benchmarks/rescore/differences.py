"""Compares a recorded episode with the same actions played again."""

from __future__ import annotations

import contextlib
import math
from typing import Any, NamedTuple

from agentgym_envs.actions import strip_thinking
from agentgym_envs.actions.verbs import clipped
from agentgym_envs.trajectories.trajectory import Trajectory, Turn
from trainers.history.notes import Notes

GOES_ON = "goes_on"
"""`truncated_by` of a replay whose episode had not ended after the last recorded action."""

_OF_EPISODE = ("subtask", "split", "goal", "success", "score", "final_observation", "verdict")
_OF_TURN = ("observation", "reward", "is_valid_action", "score")
_NOTES = Notes()
_SHOWN = 60
"""Characters of a value in a line."""


class Difference(NamedTuple):
    """A value that a replay does not confirm.

    Attributes:
        turn: from 1; None is the episode as a whole.
        field: the name in the file; `"end"` stands for `status` and `truncated_by`, `"turns"` for
            their number.
        stored: the recorded value.
        replayed: the value of the replay.
    """

    turn: int | None
    field: str
    stored: Any
    replayed: Any

    def __str__(self) -> str:
        where = "" if self.turn is None else f"turn {self.turn}, "
        stored, replayed = _shortened(self.stored, self.replayed)
        return f"{where}{self.field}: stored {stored}, replayed {replayed}"


def differences(
    recorded: Trajectory, replayed: Trajectory, *, own_history: bool = False
) -> list[Difference]:
    """List the differences, turn by turn and then of the episode.

    The replay's turns are compared as far as it goes. Seconds and tokens are no part of it.

    Args:
        recorded: the episode as its file has it.
        replayed: the episode of its actions.
        own_history: a class of the user's reads the action out of a completion, so that one need
            not follow from the other by our rules.
    """
    found: list[Difference] = []
    given = num_given(recorded)
    pairs = zip(recorded.turns, replayed.turns, strict=False)
    for number, (stored, again) in enumerate(pairs, 1):
        if not (own_history or _is_of_completion(stored)):
            found.append(
                Difference(number, "action", stored.action, strip_thinking(stored.completion))
            )
        for name in _OF_TURN:
            before, after = getattr(stored, name), getattr(again, name)
            if name == "reward" and number <= given:
                after = 0.0  # turns before the policy's have none
            if not is_equal(before, after):
                found.append(Difference(number, name, before, after))
    if len(recorded.turns) != len(replayed.turns):
        found.append(Difference(None, "turns", len(recorded.turns), len(replayed.turns)))
    # A file may claim anything, this cause included.
    end = "goes on" if replayed.truncated_by == GOES_ON else _end(replayed)
    if _end(recorded) != end:
        found.append(Difference(None, "end", _end(recorded), end))
    for name in _OF_EPISODE:
        before, after = getattr(recorded, name), getattr(replayed, name)
        if not is_equal(before, after):
            found.append(Difference(None, name, before, after))
    return found


def num_given(episode: Trajectory) -> int:
    """Return the number of first turns that the policy has not played."""
    trained = [turn.trained for turn in episode.turns]
    return trained.index(True) if True in trained else len(trained)


def _is_of_completion(turn: Turn) -> bool:
    """Return whether the action is a reading of the completion that a recorder knows."""
    whole = turn.completion
    return turn.action in (strip_thinking(whole), _NOTES.action(whole), whole)


def is_equal(stored: Any, replayed: Any) -> bool:
    """Return whether two JSON values are equal, numbers but for rounding."""
    if isinstance(stored, (int, float)) and isinstance(replayed, (int, float)):
        with contextlib.suppress(OverflowError):  # a whole number that is too long for a float
            return math.isclose(stored, replayed, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(stored, dict) and isinstance(replayed, dict):
        return stored.keys() == replayed.keys() and all(
            is_equal(value, replayed[name]) for name, value in stored.items()
        )
    if isinstance(stored, list) and isinstance(replayed, list):
        return len(stored) == len(replayed) and all(map(is_equal, stored, replayed))
    return bool(stored == replayed)


def _end(episode: Trajectory) -> str:
    """Return how an episode ended, in words."""
    cause = "" if episode.truncated_by is None else f" by {episode.truncated_by}"
    return episode.status + cause


def _shortened(stored: Any, replayed: Any) -> tuple[str, str]:
    """Return two values as one line shows them, long texts from where they differ."""
    if not (isinstance(stored, str) and isinstance(replayed, str)):
        return clipped(repr(stored), _SHOWN), clipped(repr(replayed), _SHOWN)
    pairs = enumerate(zip(stored, replayed, strict=False))
    place = next((n for n, (a, b) in pairs if a != b), min(len(stored), len(replayed)))
    longest = max(len(stored), len(replayed))
    start = 0 if longest <= _SHOWN else max(0, place - _SHOWN // 3)
    return _part(stored, start), _part(replayed, start)


def _part(text: str, start: int) -> str:
    shown = repr(text[start : start + _SHOWN])
    return "..." * (start > 0) + shown + "..." * (len(text) > start + _SHOWN)
