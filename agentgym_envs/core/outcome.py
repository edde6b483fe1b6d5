"""Defines the results of one turn: an outcome, an expert's move, and the keys of `info`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, TypedDict

INFO_KEYS: tuple[str, ...] = (
    "task_id",  # str
    "subtask",  # str
    "split",  # str
    "source",  # str: the data behind the ids, with its version
    "goal",  # str
    "success",  # bool
    "score",  # float in 0..1: progress
    "is_valid_action",  # bool; True at reset
    "available_actions",  # list[str] | None
    "turn",  # int: steps taken in this episode
    "truncated_by",  # None | "env_limit" | "max_turns" | "horizon" | "time_limit"
)
"""The keys that `info` always holds. A scenario may add its own."""

UNSCORED_KEY = "unscored"
"""Optional key of `info`, bool: the episode is over, and whether it succeeded is unknown.

Whoever records episodes gives it the status `"failed"`, so that it counts neither as a success nor
as a failure.
"""

VERDICT_KEY = "verdict"
"""Optional key of `info`, str: the reasons why the episode is no success, a line for each.

Empty while the episode goes on. It is for people, and is in the record of the episode; a policy
never reads it.
"""

JUDGEMENTS_KEY = "judgements"
"""Optional key of `info`, str: a judge's rulings at the end of the episode.

A line of JSON for each ruling, with the question and the answer; it is in the record of the
episode.
"""

CONVERSATION_KEY = "conversation"
"""Optional key of `info`, a `Conversation`: all that the policy reads, in memory only.

It stands in place of the turns so far, for environments whose turns are no one conversation.
"""

UNSCORED = "nobody could tell whether the task was done; it needs a judge"
"""The error of such a record."""


class _NoInfo(dict[str, Any]):
    """The empty `Outcome.info` that all outcomes share, so that it cannot change."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this Outcome.info is shared; pass a dict: Outcome(text, info={...})")

    __setitem__ = __ior__ = setdefault = update = _refuse  # type: ignore[assignment]

    def __reduce__(self) -> str:
        return "_NO_INFO"


_NO_INFO = _NoInfo()


class Conversation(TypedDict):
    """A conversation that the policy goes on with.

    Attributes:
        instruction: the system's message; empty where there is none.
        observations: (n + 1) the user's messages; the policy answers the last one.
        turns: (n) the policy's messages in between: a turn's number, or the text of a message that
            is none of its turns.
    """

    instruction: str
    observations: list[str]
    turns: list[int | str]


class Outcome(NamedTuple):
    """A scenario's answer to one action.

    Attributes:
        observation: what the policy reads next.
        reward: this step's reward.
        terminated: the game is over, won or lost.
        truncated: the simulator's own limit was met.
        info: keys of the scenario's own. It may hold `success`, `score` and `is_valid_action`, too,
            for the fields that are left out.
        success: the task is done; left out, it is not.
        score: progress in 0..1; left out, it is 1.0 on success and else what it was.
        is_valid: the action could be played, for `is_valid_action`; left out, it could.
    """

    observation: str
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: Mapping[str, Any] = _NO_INFO
    success: bool | None = None
    score: float | None = None
    is_valid: bool | None = None

    @classmethod
    def won(cls, observation: str, reward: float = 1.0) -> Outcome:
        """Return the outcome of an action that does the task and ends the episode."""
        return cls(observation, reward, terminated=True, success=True)

    @classmethod
    def invalid(cls, observation: str) -> Outcome:
        """Return the outcome of an action that cannot be played, with the reason to show."""
        return cls(observation, is_valid=False)

    def as_info(self) -> Mapping[str, Any]:
        """Return `info` with the fields that are set, by their keys in `INFO_KEYS`."""
        if self.success is None and self.score is None and self.is_valid is None:
            return self.info
        info = dict(self.info)
        if self.success is not None:
            info["success"] = self.success
        if self.score is not None:
            info["score"] = self.score
        if self.is_valid is not None:
            info["is_valid_action"] = self.is_valid
        return info


class ExpertMove(NamedTuple):
    """One move of an expert: a plain action, and why, in one or a few lines."""

    action: str
    thought: str = ""
