"""The record of one episode: turns as text, and tokens exactly as they were sampled."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agentgym_envs.actions import strip_thinking
from agentgym_envs.content.files import COMPRESSED, atomic_write, end_last_line, open_bytes
from agentgym_envs.trajectories.schema import schema_problem

COMPRESSION = 1
"""zlib's level. Higher ones take several times longer and hardly shrink ids or logprobs."""

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

    def turn_ends(self) -> list[int]:
        """Return where in the completion each turn ends.

        Given ids stand between two turns.
        """
        following = [*self.action_mask[1:], 0]
        pairs = zip(self.action_mask, following, strict=False)
        return [place + 1 for place, (own, other) in enumerate(pairs) if own and not other]

    def sampled_turns(self) -> list[list[int]]:
        """Return the ids that the policy sampled, turn by turn."""
        turns, start = [], 0
        for end in self.turn_ends():
            own = zip(self.completion_ids[start:end], self.action_mask[start:end], strict=True)
            turns.append([id_ for id_, is_action in own if is_action])
            start = end
        return turns

    @property
    def ids(self) -> list[int]:
        """(P + T,) the whole sequence."""
        return self.prompt_ids + self.completion_ids

    def __len__(self) -> int:
        return len(self.prompt_ids) + len(self.completion_ids)


CUT = "length"
"""The finish reason of an answer that ended at its greatest length."""


@dataclass(frozen=True)
class ModelCall:
    """The facts about an answer beside its text, from a server or from sampling that was cut.

    Attributes:
        finish_reason: why the text ends, in the server's word: `"stop"`, `"length"`, ...
        reasoning: the model's, where the server gives it apart from the text.
        prompt_tokens: tokens that were read, cached ones included.
        cached_tokens: those of them that the server had in its cache.
        retries: how often the request was sent again.
        seconds: from the request to its answer, retries included.
        cost: in the currency of the prices; None where there is no price.
        is_refusal: the server marks the text as the model's refusal to answer.
    """

    finish_reason: str = ""
    reasoning: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    retries: int = 0
    seconds: float = 0.0
    cost: float | None = None
    is_refusal: bool = False


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
            AgentTraj files and an expert's first turns do.
        action: the text that was played, as the environment read it; left out, it is what
            `strip_thinking` leaves of the completion.
        call: what a server told of the completion, or that a model's was cut; else None.
        weights_step: the optimizer step of the weights that sampled the completion, where episodes
            are played while the policy is trained; None where the episode's `global_step` says it:
            in training they are those before that step.
    """

    observation: str
    completion: str
    reward: float
    is_valid_action: bool
    score: float
    num_tokens: int = 0
    trained: bool = True
    action: str = ""
    call: ModelCall | None = None
    weights_step: int | None = None

    def __post_init__(self) -> None:
        if not self.action:
            self.action = strip_thinking(self.completion)

    @property
    def is_cut(self) -> bool:
        """The completion ended at its greatest length, not by a token that ends a turn."""
        return self.call is not None and self.call.finish_reason == CUT

    def to_json(self) -> dict[str, Any]:
        """Return the turn as JSON values, without an action that follows from the completion."""
        values = dict(vars(self))
        if self.action == strip_thinking(self.completion):
            del values["action"]
        if self.call is None:
            del values["call"]
        else:
            values["call"] = dict(vars(self.call))
        if self.weights_step is None:
            del values["weights_step"]
        return values

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Turn:
        """Rebuild a turn from `to_json`'s values."""
        call = record.get("call")
        return cls(**{**record, "call": None if call is None else ModelCall(**call)})


_IN_MEMORY = frozenset({"info", "prefix"})
"""Fields of a trajectory that no file holds."""

_OF_THE_LINE = frozenset({"episode_return", "place", "options"})
"""Keys of a line that are no part of the trajectory.

They are derived from it, or say which episode of an unfinished file it is.
"""


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
        truncated_by: None, `"env_limit"`, `"max_turns"`, `"horizon"`, `"token_budget"`,
            `"refused"` where a server refused to answer, or `"no_action"` where a scripted policy
            had none.
        success: the goal was reached.
        score: progress in 0..1 at the end.
        traces: the tokens; one trace where the history only grew, several where turns saw
            something else of it, none for policies without tokens.
        policy: who played.
        global_step: the optimizer step that learned from the episode, as metrics have it; of other
            episodes that of the weights that played.
        error: what broke, for failed episodes; why a server refused, for those that it refused.
        verdict: why the episode is no success, a line each, where the environment says so.
        judgements: what a judge was asked at the end and said, a line of JSON each.
        env_kwargs: the arguments that made the environment; None where they are unknown.
        horizon: the turn limit of this episode alone.
        info: the environment's last `info`, in memory only: files do not hold it.
        prefix: an expert's turns before the policy's, which are not `trained` and have no reward.
            In files they are the first ones of `turns`.
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
    verdict: str = ""
    judgements: str = ""
    env_kwargs: dict[str, Any] | None = None
    horizon: int | None = None
    info: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    prefix: list[Turn] = field(default_factory=list)

    def whole(self) -> Trajectory:
        """Return the episode with its prefix among its turns."""
        if not self.prefix:
            return self
        return replace(self, turns=[*self.prefix, *self.turns], prefix=[])

    @property
    def episode_return(self) -> float:
        """Sum of the rewards."""
        return sum(turn.reward for turn in self.turns)

    @property
    def cost(self) -> float | None:
        """The sum of the completions' costs, or None where no cost is known."""
        costs = [turn.call.cost for turn in self.turns if turn.call and turn.call.cost is not None]
        return sum(costs) if costs else None

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
        for turn in (*self.prefix, *self.turns):
            texts += [("user", turn.observation), ("assistant", turn.completion)]
        if self.final_observation:
            texts.append(("user", self.final_observation))
        return [{"role": role, "content": content} for role, content in texts]

    def to_json(self) -> dict[str, Any]:
        """Return the trajectory as JSON values, `episode_return` included for readers.

        The lists of token ids and the like are the trajectory's own, not copies.
        """
        # Not `asdict`: it copies each of the tokens, which takes longer than to write them.
        values = {name: value for name, value in vars(self).items() if name not in _IN_MEMORY}
        return {
            **values,
            "turns": [turn.to_json() for turn in (*self.prefix, *self.turns)],
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
        if problem := schema_problem(record):
            raise ValueError(problem)
        if misplaced := sorted(_IN_MEMORY & record.keys()):
            raise ValueError(f"it has {misplaced[0]}, which no file holds; leave it out")
        values = {key: value for key, value in record.items() if key not in _OF_THE_LINE}
        values["turns"] = [Turn.from_json(turn) for turn in values.get("turns", [])]
        values["traces"] = [TokenTrace(**trace) for trace in values.get("traces", [])]
        return cls(**values)


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
    if append and not is_compressed:
        end_last_line(path)
    mode: Literal["ab", "wb"] = "ab" if append else "wb"
    with nullcontext(path) if append else atomic_write(path) as target:
        with gzip.open(target, mode, COMPRESSION) if is_compressed else target.open(mode) as file:
            for trajectory in trajectories:
                file.write(trajectory.to_line())


def read_jsonl(
    path: str | Path, *, on_problem: Callable[[str], None] | None = None
) -> Iterator[Trajectory]:
    """Read a file of `write_jsonl`, one trajectory at a time.

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
