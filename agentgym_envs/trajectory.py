"""The record of one episode: turns as text, and tokens exactly as they were sampled."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from types import NoneType
from typing import Any, Literal

from agentgym_envs.actions import strip_thinking
from agentgym_envs.files import COMPRESSED, open_bytes, replacing

COMPRESSION = 1
"""zlib's level: ids and log-probabilities hardly get smaller with higher ones, at several times
the cost."""

Status = Literal["terminated", "truncated", "failed"]


@dataclass
class TokenTrace:
    """One append-only token sequence of an episode.

    `completion_ids`, `action_mask` and `logprobs` have equal lengths T. Ids and mask are appended
    together where they are born; nothing is decoded and encoded again.

    Attributes:
        prompt_ids: (P,) the ids before the first sampled token.
        completion_ids: (T,) sampled and given ids after the prompt.
        action_mask: (T,) 1 = sampled by the policy, 0 = given by the environment or template.
        logprobs: (T,) nats, of the sampling distribution; 0.0 where `action_mask` is 0.
        advantages: (T,) what training credited each token with, in the algorithm's own unit; 0.0
            where `action_mask` is 0, empty where the trace was in no loss.
    """

    prompt_ids: list[int]
    completion_ids: list[int] = field(default_factory=list)
    action_mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    advantages: list[float] = field(default_factory=list)

    def append_action(self, ids: list[int], logprobs: list[float]) -> None:
        """Append tokens that the policy sampled.

        Raises:
            ValueError: there is not one logprob per id.
        """
        if len(ids) != len(logprobs):
            raise ValueError(f"expected one logprob per id, got {len(logprobs)} for {len(ids)} ids")
        self.completion_ids += ids
        self.action_mask += [1] * len(ids)
        self.logprobs += logprobs

    def append_given(self, ids: list[int]) -> None:
        """Append tokens of an observation or of the chat template."""
        self.completion_ids += ids
        self.action_mask += [0] * len(ids)
        self.logprobs += [0.0] * len(ids)

    @property
    def ids(self) -> list[int]:
        """(P + T,) the whole sequence."""
        return self.prompt_ids + self.completion_ids

    def __len__(self) -> int:
        return len(self.prompt_ids) + len(self.completion_ids)


@dataclass
class Turn:
    """One observation and the policy's answer to it.

    Attributes:
        observation: what the policy read.
        completion: what the policy wrote, as text.
        reward: what `step(action)` paid.
        is_valid_action: the environment took it as an action.
        score: progress in 0..1 after the action.
        num_tokens: sampled tokens; 0 for policies without tokens.
        trained: imitation may learn it; False where it only sets the scene, as worked examples in
            AgentTraj files do.
        action: the text that was played, as the environment read it; left out, it is what
            `strip_thinking` leaves of the completion.
    """

    observation: str
    completion: str
    reward: float
    is_valid_action: bool
    score: float
    num_tokens: int = 0
    trained: bool = True
    action: str = ""

    def __post_init__(self) -> None:
        if not self.action:
            self.action = strip_thinking(self.completion)

    def to_json(self) -> dict[str, Any]:
        """Return the turn as JSON values, without an action that follows from the completion."""
        values = dict(vars(self))
        if self.action == strip_thinking(self.completion):
            del values["action"]
        return values


_OF_THE_LINE = frozenset({"episode_return", "place", "options"})
"""Keys of a line that are no part of the trajectory: what follows from it, and of an unfinished
file which episode it is."""


@dataclass
class Trajectory:
    """One episode.

    Attributes:
        env_id, task_id, subtask, split, source, goal: what was played.
        system_prompt: the instruction text.
        turns: the turns, in order.
        final_observation: what the environment said last.
        status: `"terminated"`, `"truncated"`, or `"failed"` where the machinery broke; a failed
            trajectory enters no loss, no baseline and no success rate.
        truncated_by: None, `"env_limit"`, `"max_turns"`, `"horizon"`, `"token_budget"`, or
            `"no_action"` where a scripted policy had none.
        success: the goal was reached.
        score: progress in 0..1 at the end.
        traces: the tokens; one trace where the history only grew, one per history window where
            old turns were dropped, none for policies without tokens.
        policy: who played.
        global_step: optimizer step at the episode's start.
        error: what broke, for failed episodes.
        info: the environment's last `info`, in memory only: files do not hold it.
    """

    env_id: str
    task_id: str
    subtask: str = ""
    split: str = ""
    source: str = ""
    goal: str = ""
    system_prompt: str = ""
    turns: list[Turn] = field(default_factory=list)
    final_observation: str = ""
    status: Status = "truncated"
    truncated_by: str | None = None
    success: bool = False
    score: float = 0.0
    traces: list[TokenTrace] = field(default_factory=list)
    policy: str = ""
    global_step: int = 0
    error: str | None = None
    info: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def episode_return(self) -> float:
        """Sum of the rewards."""
        return sum(turn.reward for turn in self.turns)

    @property
    def trace(self) -> TokenTrace:
        """The only token trace.

        Raises:
            ValueError: there is none, or the history was windowed into several.
        """
        if len(self.traces) != 1:
            raise ValueError(f"{self.task_id} holds {len(self.traces)} token traces, expected one")
        return self.traces[0]

    def messages(self) -> list[dict[str, str]]:
        """Return the conversation: the instruction, observations and completions in turn.

        Each message has `role`, which is system, user or assistant, and `content`. The last one is
        the user's: what the environment said at the end.
        """
        texts = [("system", self.system_prompt)] if self.system_prompt else []
        for turn in self.turns:
            texts += [("user", turn.observation), ("assistant", turn.completion)]
        if self.final_observation:
            texts.append(("user", self.final_observation))
        return [{"role": role, "content": content} for role, content in texts]

    def to_json(self) -> dict[str, Any]:
        """Return the trajectory as JSON values, `episode_return` included for readers.

        The lists of token ids and the like are the trajectory's own, not copies.
        """
        # Not `asdict`: it copies each of the tokens, which takes longer than to write them.
        values = {name: value for name, value in vars(self).items() if name != "info"}
        return {
            **values,
            "turns": [turn.to_json() for turn in self.turns],
            "traces": [dict(vars(trace)) for trace in self.traces],
            "episode_return": self.episode_return,
        }

    def to_line(self) -> bytes:
        """Return the trajectory as a line of a JSONL file.

        Lone surrogates in model text survive as JSON escapes.
        """
        return json.dumps(self.to_json()).encode() + b"\n"

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Trajectory:
        """Rebuild a trajectory from `to_json`'s values.

        Raises:
            TypeError: they are not such values.
            ValueError: they are not such values.
        """
        if problem := problem_of(record):
            raise ValueError(problem)
        values = {key: value for key, value in record.items() if key not in _OF_THE_LINE}
        values["turns"] = [Turn(**turn) for turn in values.get("turns", [])]
        values["traces"] = [TokenTrace(**trace) for trace in values.get("traces", [])]
        return cls(**values)


_TEXT, _NUMBER, _WHOLE = (str,), (int, float), (int,)
_OF_EPISODE: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("env_id", "task_id"), _TEXT),
    **dict.fromkeys(("subtask", "split", "source", "goal", "system_prompt"), _TEXT),
    **dict.fromkeys(("final_observation", "status", "policy"), _TEXT),
    **dict.fromkeys(("truncated_by", "error"), (str, NoneType)),
    **{"success": (bool,), "score": _NUMBER, "global_step": _WHOLE, "traces": (list,)},
}
_OF_TURN: dict[str, tuple[type, ...]] = {
    **{"observation": _TEXT, "completion": _TEXT, "reward": _NUMBER, "is_valid_action": (bool,)},
    **{"score": _NUMBER, "num_tokens": _WHOLE, "trained": (bool,), "action": _TEXT},
}
_OF_TRACE = ("prompt_ids", "completion_ids", "action_mask", "logprobs", "advantages")
_IN_WORDS: dict[type, str] = {
    **{str: "a text", bool: "true or false", int: "a whole number", float: "a number"},
    **{list: "a list", NoneType: "null"},
}


def problem_of(record: Any) -> str | None:
    """Return in words why JSON values are not those of a trajectory; None where they are.

    Values that may be left out are checked where they are there.
    """
    if not isinstance(record, dict):
        return f"a JSON object is expected, got {type(record).__name__}"
    problem = _problem_in(record, _OF_EPISODE, needed=("env_id", "task_id"))
    if problem:
        return problem
    turns = record.get("turns")
    if not isinstance(turns, list):
        given = f"got {turns!r:.40}" if "turns" in record else "it has none"
        return f"turns must be a list, {given}"
    for number, turn in enumerate(turns):
        needed = ("observation", "completion", "reward", "is_valid_action", "score")
        if problem := _problem_in(turn, _OF_TURN, needed=needed):
            return f"turn {number}: {problem}"
    for number, trace in enumerate(record.get("traces", [])):
        if problem := _problem_in_trace(trace):
            return f"trace {number}: {problem}"
    return None


def _problem_in(
    record: Any, types: dict[str, tuple[type, ...]], *, needed: tuple[str, ...]
) -> str | None:
    if not isinstance(record, dict):
        return f"a JSON object is expected, got {record!r:.40}"
    for name in needed:
        if name not in record:
            return f"it has no {name}"
    for name, value in record.items():
        kinds = types.get(name)
        if kinds is None:
            continue
        kind = type(value)  # exactly: a bool is no number
        if kind not in kinds or (kind is float and not isfinite(value)):
            return f"{name} must be {_IN_WORDS[kinds[-1]]}, got {value!r:.40}"
    return None


def _problem_in_trace(trace: Any) -> str | None:
    if not isinstance(trace, dict):
        return f"a JSON object is expected, got {trace!r:.40}"
    lists = {name: trace.get(name, []) for name in _OF_TRACE}
    for name, values in lists.items():
        if not isinstance(values, list) or not set(map(type, values)) <= {int, float}:
            return f"{name} must be a list of numbers"
    count = len(lists["completion_ids"])
    for name in ("action_mask", "logprobs"):
        if len(lists[name]) != count:
            return f"{len(lists[name])} values of {name} for {count} tokens"
    if lists["advantages"] and len(lists["advantages"]) != count:
        return f"{len(lists['advantages'])} values of advantages for {count} tokens"
    if not set(lists["action_mask"]) <= {0, 1}:
        return "action_mask must hold 0 and 1 only"
    return None


def write_jsonl(
    path: str | Path, trajectories: Iterable[Trajectory], *, append: bool = False
) -> None:
    """Write one trajectory a line, compressed where the file's name ends with `.gz`.

    Args:
        path: the file; its folder is made.
        trajectories: the episodes.
        append: add to the file; otherwise it is written as a whole or not at all.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    is_compressed = path.suffix == COMPRESSED
    if append:
        _write_lines(path, "ab", trajectories, is_compressed=is_compressed)
        return
    with replacing(path) as unfinished:
        _write_lines(unfinished, "wb", trajectories, is_compressed=is_compressed)


def _write_lines(
    path: Path,
    mode: Literal["ab", "wb"],
    trajectories: Iterable[Trajectory],
    *,
    is_compressed: bool,
) -> None:
    with gzip.open(path, mode, COMPRESSION) if is_compressed else path.open(mode) as file:
        for trajectory in trajectories:
            file.write(trajectory.to_line())


def read_jsonl(
    path: str | Path, *, on_problem: Callable[[str], None] | None = None
) -> Iterator[Trajectory]:
    """Read what `write_jsonl` wrote, one trajectory at a time.

    Args:
        path: the file.
        on_problem: is told of each line that is not a trajectory, and of what is cut short, with
            the file's name and the line; the rest is read. None raises instead.

    Raises:
        ValueError: a line is not a trajectory; the message names the line.
    """
    with open_bytes(path) as file:
        number = 0
        try:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    trajectory = _from_line(line, f"{path}, line {number}")
                except ValueError as error:
                    if on_problem is None:
                        raise
                    on_problem(str(error))
                else:
                    yield trajectory
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            problem = f"{path}: not compressed, or cut short after line {number} ({error})"
            if on_problem is None:
                raise ValueError(problem) from error
            on_problem(problem)


def _from_line(line: bytes, where: str) -> Trajectory:
    try:
        return Trajectory.from_json(json.loads(line))
    except (TypeError, KeyError, ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not a trajectory ({error})") from error
