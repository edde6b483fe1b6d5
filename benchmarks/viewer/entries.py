"""Light entries of episodes, one for each line of a file, for the viewer's list."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import open_bytes
from agentgym_envs.content.row_files import is_document
from agentgym_envs.core import UNSCORED, UNSCORED_KEY
from agentgym_envs.trajectories.atif_reader import from_atif, is_atif
from agentgym_envs.trajectories.schema import schema_problem

_HEAD = 1 << 16
"""Bytes of a document within which it names its format."""

# These stand outside of any string: within one, the quotes would be escaped.
_TRACES, _END_OF_TRACES = b', "traces": [{"prompt_ids": ', b'}], "policy": '


class NotJSON(ValueError):
    """The line is not JSON."""


class NotEpisode(ValueError):
    """The line is an ATIF document that is no episode."""


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
        offset: the start of its line in bytes; the page does not get it, nor what follows.
        part: its place among the episodes of its line, which is 0 but in ATIF.
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
    part: int = 0

    def row(self) -> tuple[Any, ...]:
        """Return the values of `FIELDS`, in order."""
        return tuple(getattr(self, name) for name in _NAMES)


_NAMES = [one.name for one in fields(Entry) if one.name not in ("offset", "length", "part")]
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


def may_be_atif(path: Path) -> bool:
    """Return whether a file looks like a document of ATIF."""
    try:
        if not is_document(path) or not path.is_file():
            return False
        stat = path.stat()
    except (OSError, RuntimeError):  # moved away; a link that leads to itself
        return False
    return _names_atif(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=1 << 16)
def _names_atif(path: Path, _size: int, _changed: int) -> bool:
    """Return whether a file's beginning names ATIF, read again once the file has changed."""
    try:
        with open_bytes(path) as file:
            return b'"ATIF-v' in file.read(_HEAD)
    except (OSError, EOFError, gzip.BadGzipFile, zlib.error):
        return False


def read_episodes(line: bytes, *, with_tokens: bool = False) -> list[dict[str, Any]]:
    """Return the values of a line's episode, or of the episodes of ATIF documents.

    Without tokens they are left out where that is quick.

    Raises:
        NotJSON: the line is not JSON.
        NotEpisode: it is an ATIF document, and no episode.
        ValueError: it is no episode.
    """
    try:
        record = json.loads(line if with_tokens else without_tokens(line))
    except (ValueError, RecursionError) as error:
        raise NotJSON(f"it is not JSON ({error})") from error
    documents = record if isinstance(record, list) else [record]
    if documents and is_atif(documents[0]):
        try:
            numbered = [(one, str(number)) for number, one in enumerate(documents, 1)]
            return [episode.to_json() for one in numbered for episode in from_atif(*one)]
        except (TypeError, ValueError) as error:
            raise NotEpisode(str(error)) from error
    if problem := schema_problem(record):
        raise ValueError(problem)
    return [dict(record)]


def make_entry(
    record: dict[str, Any], line: bytes, *, file: int, number: int, offset: int, part: int = 0
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
        part=part,
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
