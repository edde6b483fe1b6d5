"""One line of an episodes' file as the light entry that lists are made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agentgym_envs.core import UNSCORED, UNSCORED_KEY
from agentgym_envs.trajectory_form import problem_of

FIELDS = (
    "file",
    "line",
    "env",
    "subtask",
    "split",
    "task",
    "source",
    "policy",
    "step",
    "success",
    "score",
    "return",
    "turns",
    "status",
    "cause",
    "goal",
    "marks",
    "tokens",
    "traced",
)
"""The names of an entry's values in `Entry.row`, in order."""
_POLICY = FIELDS.index("policy")
# These stand outside of any string: within one, the quotes would be escaped.
_TRACES, _END_OF_TRACES = b', "traces": [{"prompt_ids": ', b'}], "policy": '


class NotJSON(ValueError):
    """A line is no JSON."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The facts of an episode that the list shows, without its turns.

    Attributes:
        file: number of its file.
        offset: where its line begins, in bytes.
        length: of its line, in bytes.
        row: the values of `FIELDS`.
    """

    file: int
    offset: int
    length: int
    row: tuple[Any, ...]

    @property
    def policy(self) -> str:
        """Who played it."""
        return str(self.row[_POLICY])


def without_tokens(line: bytes) -> bytes:
    """Cut the tokens out of a line; they are most of it, and lists need none.

    A line that was not written by `write_jsonl` is returned as it is.
    """
    start = line.find(_TRACES)
    end = line.rfind(_END_OF_TRACES)
    if start < 0 or end < start:
        return line
    return line[:start] + line[end + 2 :]


def read_episode(line: bytes) -> dict[str, Any]:
    """Return an episode's values, tokens left out where that is quick.

    Raises:
        NotJSON: the line is no JSON.
        ValueError: it is JSON, and no episode.
    """
    try:
        record = json.loads(without_tokens(line))
    except (ValueError, RecursionError) as error:
        raise NotJSON(f"it is not JSON ({error})") from error
    if problem := problem_of(record):
        raise ValueError(problem)
    return dict(record)


def entry_of(record: dict[str, Any], line: bytes, *, file: int, number: int, offset: int) -> Entry:
    """Return the entry of an episode.

    Args:
        record: what `read_episode` returned.
        line: its line.
        file: number of its file.
        number: of the line, from 1.
        offset: where the line begins, in bytes.
    """
    turns = record["turns"]
    paid = [float(turn["reward"]) for turn in turns]
    marks = "".join(
        _mark(reward, is_valid=turn["is_valid_action"])
        for reward, turn in zip(paid, turns, strict=True)
    )
    row = (
        file,
        number,
        record["env_id"],
        record.get("subtask", ""),
        record.get("split", ""),
        record["task_id"],
        record.get("source", ""),
        record.get("policy", ""),
        record.get("global_step", 0),
        record.get("success", False),
        round(float(record.get("score", 0.0)), 4),
        round(sum(paid), 4),
        len(turns),
        record.get("status", ""),
        UNSCORED_KEY if record.get("error") == UNSCORED else record.get("truncated_by"),
        record.get("goal", ""),
        marks,
        sum(turn.get("num_tokens", 0) for turn in turns),
        bool(record.get("traces")) or _TRACES in line,
    )
    return Entry(file, offset, len(line), row)


def texts_of(record: dict[str, Any]) -> list[str]:
    """Return the texts of an episode that a search looks through; the system prompt is not one."""
    texts = [
        str(record.get(name) or "")
        for name in (
            "goal",
            "task_id",
            "subtask",
            "policy",
            "final_observation",
            "error",
            "verdict",
        )
    ]
    for turn in record["turns"]:
        texts += [str(turn.get("observation", "")), str(turn.get("completion", ""))]
        texts.append(str((turn.get("call") or {}).get("reasoning", "")))
    return texts


def _mark(reward: float, *, is_valid: bool) -> str:
    """Return a turn as one character: x invalid, + paid, - charged, . neither."""
    if not is_valid:
        return "x"
    return "." if reward == 0 else "+" if reward > 0 else "-"
