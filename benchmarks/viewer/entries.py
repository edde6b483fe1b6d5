"""One line of an episodes' file as the light entry that lists are made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agentgym_envs.core import UNSCORED, UNSCORED_KEY

FIELDS = (
    "file",
    "line",
    "env",
    "subtask",
    "split",
    "task",
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


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of an episode without reading it again.

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


def is_episode(record: Any) -> bool:
    """Return whether a line's JSON value is an episode."""
    return isinstance(record, dict) and {"env_id", "task_id", "turns"} <= set(record)


def without_tokens(line: bytes) -> bytes:
    """Cut the tokens out of a line; they are most of it, and lists need none.

    A line that was not written by `write_jsonl` is returned as it is.
    """
    start = line.find(_TRACES)
    end = line.rfind(_END_OF_TRACES)
    if start < 0 or end < start:
        return line
    return line[:start] + line[end + 2 :]


def read_episode(line: bytes) -> dict[str, Any] | None:
    """Return an episode's values, tokens left out where that is quick; None for anything else."""
    try:
        record = json.loads(without_tokens(line))
    except ValueError:
        return None
    return record if is_episode(record) else None


def entry_of(
    record: dict[str, Any], line: bytes, *, file: int, number: int, offset: int
) -> Entry | None:
    """Return the entry of an episode, or None where its values are not those of one.

    Args:
        record: what `read_episode` returned.
        line: its line.
        file: number of its file.
        number: of the line, from 1.
        offset: where the line begins, in bytes.
    """
    turns = record["turns"]
    try:
        paid = [float(turn["reward"]) for turn in turns]
        marks = "".join(
            _mark(reward, is_valid=turn["is_valid_action"])
            for reward, turn in zip(paid, turns, strict=True)
        )
        tokens = sum(int(turn.get("num_tokens", 0)) for turn in turns)
        row = (
            file,
            number,
            str(record["env_id"]),
            str(record.get("subtask", "")),
            str(record.get("split", "")),
            str(record["task_id"]),
            str(record.get("policy", "")),
            int(record.get("global_step", 0)),
            bool(record.get("success", False)),
            round(float(record.get("score", 0.0)), 4),
            round(sum(paid), 4),
            len(turns),
            str(record.get("status", "")),
            UNSCORED_KEY if record.get("error") == UNSCORED else record.get("truncated_by"),
            str(record.get("goal", "")),
            marks,
            tokens,
            bool(record.get("traces")) or _TRACES in line,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return Entry(file, offset, len(line), row)


def texts_of(record: dict[str, Any]) -> list[str]:
    """Return the texts of an episode that a search looks through; the system prompt is not one."""
    texts = [
        str(record.get(name) or "")
        for name in ("goal", "task_id", "subtask", "policy", "final_observation", "error")
    ]
    for turn in record["turns"]:
        texts += [str(turn.get("observation", "")), str(turn.get("completion", ""))]
    return texts


def _mark(reward: float, *, is_valid: bool) -> str:
    """Return a turn as one character: x invalid, + paid, - charged, . neither."""
    if not is_valid:
        return "x"
    return "." if reward == 0 else "+" if reward > 0 else "-"
