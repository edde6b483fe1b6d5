"""Light entries of episodes, one for each line of a file, for the viewer's list."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from agentgym_envs.core import UNSCORED, UNSCORED_KEY
from agentgym_envs.trajectories.schema import schema_problem

# These stand outside of any string: within one, the quotes would be escaped.
_TRACES, _END_OF_TRACES = b', "traces": [{"prompt_ids": ', b'}], "policy": '


class NotJSON(ValueError):
    """The line is not JSON."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The facts of an episode that the list shows, without its turns.

    Attributes:
        line: number of its line, from 1.
        step: the optimizer step whose weights played it.
        return_: the sum of its rewards; the page calls it `return`.
        cause: of its truncation, or that it could not be scored.
        marks: a character for each turn: x invalid, + rewarded, - charged, . neither.
        traced: its tokens are in the file.
        offset: the start of its line in bytes; the page does not get it, nor `length`.
    """

    file: int
    line: int
    env: str
    subtask: str
    split: str
    task: str
    source: str
    policy: str
    step: int
    success: bool
    score: float
    return_: float
    turns: int
    status: str
    cause: str | None
    goal: str
    marks: str
    tokens: int
    traced: bool
    offset: int
    length: int

    def row(self) -> tuple[Any, ...]:
        """Return the values of `FIELDS`, in order."""
        return tuple(getattr(self, name) for name in _NAMES)


_NAMES = [one.name for one in fields(Entry) if one.name not in ("offset", "length")]
FIELDS = tuple(name.rstrip("_") for name in _NAMES)
"""The names of an entry's values on the page."""


def without_tokens(line: bytes) -> bytes:
    """Return a line without the tokens, which are most of it.

    A line that was not written by `write_jsonl` is returned unchanged.
    """
    start = line.find(_TRACES)
    end = line.rfind(_END_OF_TRACES)
    if start < 0 or end < start:
        return line
    return line[:start] + line[end + 2 :]


def read_episode(line: bytes) -> dict[str, Any]:
    """Return an episode's values, without its tokens where they are quick to leave out.

    Raises:
        NotJSON: the line is not JSON.
        ValueError: it is no episode.
    """
    try:
        record = json.loads(without_tokens(line))
    except (ValueError, RecursionError) as error:
        raise NotJSON(f"it is not JSON ({error})") from error
    if problem := schema_problem(record):
        raise ValueError(problem)
    return dict(record)


def make_entry(
    record: dict[str, Any], line: bytes, *, file: int, number: int, offset: int
) -> Entry:
    """Return the entry of an episode, from its record and its line."""
    turns = record["turns"]
    rewards = [float(turn["reward"]) for turn in turns]
    return Entry(
        file=file,
        line=number,
        env=record["env_id"],
        subtask=record.get("subtask", ""),
        split=record.get("split", ""),
        task=record["task_id"],
        source=record.get("source", ""),
        policy=record.get("policy", ""),
        step=record.get("global_step", 0),
        success=record.get("success", False),
        score=round(float(record.get("score", 0.0)), 4),
        return_=round(sum(rewards), 4),
        turns=len(turns),
        status=record.get("status", ""),
        cause=UNSCORED_KEY if record.get("error") == UNSCORED else record.get("truncated_by"),
        goal=record.get("goal", ""),
        marks="".join(
            _mark(reward, is_valid=turn["is_valid_action"])
            for reward, turn in zip(rewards, turns, strict=True)
        ),
        tokens=sum(turn.get("num_tokens", 0) for turn in turns),
        traced=bool(record.get("traces")) or _TRACES in line,
        offset=offset,
        length=len(line),
    )


def searchable_texts(record: dict[str, Any]) -> list[str]:
    """Return the searchable texts of an episode, all but the system prompt."""
    names = ("goal", "task_id", "subtask", "policy", "final_observation", "error", "verdict")
    texts = [str(record.get(name) or "") for name in names]
    for turn in record["turns"]:
        texts += [str(turn.get("observation", "")), str(turn.get("completion", ""))]
        texts.append(str((turn.get("call") or {}).get("reasoning", "")))
    return texts


def _mark(reward: float, *, is_valid: bool) -> str:
    """Return a turn as one character: x invalid, + rewarded, - charged, . neither."""
    if not is_valid:
        return "x"
    return "." if reward == 0 else "+" if reward > 0 else "-"
