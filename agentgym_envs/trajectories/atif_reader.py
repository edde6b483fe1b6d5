"""Reads trajectories of ATIF, ours and those of other agents, as episodes.

Every step of the agent is a turn. Its observation is all that came since the agent's last step:
results of tools, and what the user or the system said. It may be empty. A call of a tool is written
as the action format `function_call` writes it. What an episode cannot hold is refused with its step
and a remedy. Other agents' timestamps, efforts, notes, tool definitions and `extra` are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.content.row_files import read_rows
from agentgym_envs.trajectories.atif import EPISODE_FIELDS, OURS, joined
from agentgym_envs.trajectories.conversations import UNNAMED, written_call
from agentgym_envs.trajectories.schema import turn_problem
from agentgym_envs.trajectories.trajectory import Trajectory

SOURCE = "atif"
"""`Trajectory.source` of other agents' episodes."""

_VERSION = re.compile(r"ATIF-v1\.\d+")
_AGENT_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
_STEP = {
    *("step_id", "timestamp", "source", "message", "observation", "extra"),
    *("llm_call_count", "is_copied_context", *_AGENT_ONLY),
}
_RESULT = {"source_call_id", "content", "subagent_trajectory_ref", "extra"}
_IDS = "completion_token_ids"
_TOKENS = ("prompt_token_ids", _IDS, "logprobs")
_SUCCESS_ABOVE = 0.99
"""The reward above which an episode is a success where nothing else says so, as AgentTraj's."""


def is_atif(row: Any) -> bool:
    """Return whether a row says that it is an ATIF document."""
    version = row.get("schema_version") if isinstance(row, Mapping) else None
    return isinstance(version, str) and version.startswith("ATIF")


def read_atif(paths: Iterable[str | Path]) -> Iterator[Trajectory]:
    """Read files of ATIF: one document, a list of them, or one a line.

    Raises:
        ValueError: a row is no such document, or no episode; the message names it.
    """
    count = 0
    for path in paths:
        for number, row in enumerate(read_rows(path), 1):
            count += 1
            try:
                yield from from_atif(row, str(count))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}, item {number}: {error}") from error


def from_atif(document: Any, number: str = "1") -> list[Trajectory]:
    """Turn an ATIF document into its episode, and those of the subagents that it holds.

    Where `extra` does not say how our episode ended, its `success` or `reward` does, or else the
    document that holds it; without any the episode counts as a success, as other published
    conversations do.

    Args:
        document: the JSON values.
        number: names the task of a document without a task and an id.

    Raises:
        TypeError: they are no such values.
        ValueError: they are none, or nothing that an episode can hold; the message names the step.
    """
    try:
        return list(_episodes(document, number, inherited=None))
    except RecursionError as error:
        raise ValueError("its subagents lie too deep in each other; take them apart") from error


def _episodes(document: Any, number: str, inherited: float | None) -> Iterator[Trajectory]:
    if not is_atif(document):
        raise ValueError("it is no ATIF trajectory, which has a schema_version such as ATIF-v1.7")
    version = document["schema_version"]
    if not _VERSION.fullmatch(version):
        raise ValueError(f"schema_version must be ATIF-v1.0 or a later ATIF-v1, got {version!r}")
    extra = _object(document, "extra")
    reward = _reward(extra, inherited)
    yield _episode(document, number, 1.0 if reward is None else reward)
    subagents = _list(document, "subagent_trajectories")
    for place, subagent in enumerate(subagents, 1):
        try:
            yield from _episodes(subagent, f"{number}.{place}", reward)
        except ValueError as error:
            raise ValueError(f"subagent {place}: {error}") from error


def _reward(extra: Mapping[str, Any], inherited: float | None) -> float | None:
    """Return an episode's reward in 0..1, or None where nothing tells it."""
    own = _object(extra, OURS)
    for success in (own.get("success"), extra.get("success")):
        if isinstance(success, bool):
            return float(success)
    reward = extra.get("reward")
    if isinstance(reward, int | float):
        return float(min(max(reward, 0.0), 1.0))  # a whole number may be too long for a float
    return inherited


def _episode(document: Mapping[str, Any], number: str, reward: float) -> Trajectory:
    own = _object(_object(document, "extra"), OURS)
    is_ours = "status" in own
    reader = _Steps(is_ours=is_ours)
    for place, step in enumerate(_list(document, "steps"), 1):
        try:
            reader.take(step, place)
        except ValueError as error:
            raise ValueError(f"step {place}: {error}") from error
    name = document.get("trajectory_id") or document.get("session_id") or number
    record: dict[str, Any] = {"env_id": "", "task_id": f"{UNNAMED}_{str(name).replace('_', '-')}"}
    if not is_ours:
        if not reader.turns:
            raise ValueError("no step is the agent's, so there is no turn; leave it out")
        agent = _object(document, "agent")
        policy = agent.get("model_name") or agent.get("name") or ""
        record |= {"source": SOURCE, "policy": policy, "status": "terminated"}
        record |= {"score": reward, "success": reward > _SUCCESS_ABOVE}
        if not reader.has_rewards:
            reader.turns[-1] |= {"reward": reward, "score": reward}
    record |= {name: own[name] for name in EPISODE_FIELDS if name in own}
    record |= {
        "system_prompt": "\n\n".join(reader.system),
        "turns": reader.turns,
        "final_observation": reader.observation(),
        "traces": own.get("traces") or reader.traces(),
    }
    return Trajectory.from_json(record)


class _Steps:
    """The turns of an episode, from its steps.

    In ours some turns have no tokens. Other agents' tokens are read where every turn has them.
    """

    def __init__(self, *, is_ours: bool) -> None:
        self._is_ours = is_ours
        self.system: list[str] = []
        self.turns: list[dict[str, Any]] = []
        self.has_rewards = False
        self._read: list[str] = []
        self._is_begun = False
        self._samples: list[dict[str, Any] | None] = []

    def take(self, step: Any, place: int) -> None:
        """Add a step, or raise ValueError with its fault."""
        _check(step, place)
        results = list(_results(step))
        message = _text(step.get("message"))
        if step["source"] == "agent":
            self._take_turn(step, message)
            self._read = results
        elif step["source"] == "system" and not self._is_begun:
            self.system.append(message)
            self._read += results
            return
        else:
            self._read += [message, *results]
        self._is_begun = True

    def observation(self) -> str:
        """Return all that came since the agent's last step."""
        return "\n".join(filter(None, self._read))

    def traces(self) -> list[dict[str, Any]]:
        """Return the traces."""
        samples = [sample for sample in self._samples if sample is not None]
        if not self._is_ours and len(samples) < len(self._samples):
            return []
        return [dict(vars(trace)) for trace in joined(samples)]

    def _take_turn(self, step: Mapping[str, Any], message: str) -> None:
        own, metrics = dict(_object(_object(step, "extra"), OURS)), _object(step, "metrics")
        self.has_rewards |= "reward" in own
        thought = step.get("reasoning_content") or ""
        opening, closing = own.pop("thought_marks", ("", ""))
        if closing:
            message, thought = f"{opening}{thought}{closing}{message}", ""
        calls = [_written(call) for call in _list(step, "tool_calls")]
        # ATIF forbids to train on copied steps and on those that no model wrote.
        is_trained = not (step.get("is_copied_context") or step.get("llm_call_count") == 0)
        turn = {
            "observation": self.observation(),
            "completion": "\n".join(filter(None, [message, *calls])),
            **{"reward": 0.0, "score": 0.0, "is_valid_action": True, **own},
            "num_tokens": metrics.get("completion_tokens") or 0,
            "trained": is_trained,
            "call": self._call(own, metrics, thought),
        }
        if problem := turn_problem(turn, "as a turn"):
            raise ValueError(problem)
        self.turns.append(turn)
        sample = self._sample(metrics) if step.get("llm_call_count") in (None, 1) else None
        if sample is not None or is_trained:
            self._samples.append(sample)

    def _sample(self, metrics: Mapping[str, Any]) -> dict[str, Any] | None:
        sample: dict[str, Any] = {name: _list(metrics, name) for name in _TOKENS}
        if not all(sample.values()):
            return None
        num_ids, num_logprobs = len(sample[_IDS]), len(sample["logprobs"])
        if num_ids != num_logprobs:
            raise ValueError(
                f"it has {num_logprobs} logprobs for {num_ids} completion_token_ids; one each is "
                "needed, so correct them or leave the logprobs out"
            )
        advantages = _object(metrics, "extra").get("advantages") if self._is_ours else None
        return {**sample, "advantages": advantages or []}

    def _call(
        self, own: Mapping[str, Any], metrics: Mapping[str, Any], thought: str
    ) -> dict[str, Any] | None:
        """Return the facts about an answer beside its text, or None where there are none."""
        known = {
            "reasoning": thought,
            "prompt_tokens": metrics.get("prompt_tokens"),
            "cached_tokens": metrics.get("cached_tokens"),
            "cost": metrics.get("cost_usd"),
        }
        call = {name: value for name, value in known.items() if value not in (None, "")}
        if not self._is_ours:
            return call or None
        if own.get("call") is None:
            return None
        seconds = _object(metrics, "extra").get("seconds", 0.0)
        return {**call, "seconds": seconds, **own["call"]}


def _check(step: Any, place: int) -> None:
    """Check the parts of a step that would be lost without a word."""
    if not isinstance(step, Mapping):
        raise ValueError(f"it must be an object, got {step!r:.40}")
    if step.get("step_id") != place:
        raise ValueError(
            f"it has the step_id {step.get('step_id')!r:.40}; steps count from 1 without gaps, so "
            "put back those that are missing, or number them anew"
        )
    source = step.get("source")
    if source not in ("system", "user", "agent"):
        raise ValueError(f"source must be system, user or agent, got {source!r:.40}")
    _check_fields(step, _STEP)
    misplaced = [name for name in _AGENT_ONLY if step.get(name) is not None]
    if source != "agent" and misplaced:
        raise ValueError(
            f"it is the {source}'s and has {misplaced[0]}, which only the agent's have; give it to "
            "a step of the agent"
        )
    context = _object(_object(step, "extra"), "context_management")
    if context.get("boundary", "append") != "append":
        raise ValueError(
            "it changes what the agent sees of earlier steps (boundary "
            f"{context['boundary']!r:.40}), which an episode does not tell; make what follows a "
            "trajectory of its own"
        )


def _check_fields(part: Mapping[str, Any], known: set[str]) -> None:
    unknown = [name for name, value in part.items() if name not in known and value is not None]
    if unknown:
        raise ValueError(
            f"it has {unknown[0]!r:.40}, which ATIF 1.8 does not know and the agent may have read; "
            "move it into `extra`, which is passed over"
        )


def _results(step: Mapping[str, Any]) -> Iterator[str]:
    for result in _list(_object(step, "observation"), "results"):
        if not isinstance(result, Mapping):
            raise ValueError(f"it has a result that is no object, {result!r:.40}")
        _check_fields(result, _RESULT)
        if result.get("content") is not None:
            yield _text(result["content"])
        elif result.get("subagent_trajectory_ref"):
            raise ValueError(
                "it has a subagent's result without content, so it is unknown what the agent read; "
                "write that into the result's `content`"
            )
        else:
            yield ""


def _text(content: Any) -> str:
    """Return a text, or that of a list of content parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise ValueError(f"it must have a text or a list of parts, got {content!r:.40}")
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else part
        text = part.get("text") if isinstance(part, Mapping) else None
        if not isinstance(text, str):
            raise ValueError(
                f"it holds a part that is no text ({kind!r:.40}), and episodes are text; put a "
                "text part, such as a caption, in its place, or leave the trajectory out"
            )
        texts.append(text)
    return "".join(texts)


def _written(call: Any) -> str:
    if not isinstance(call, Mapping) or not isinstance(call.get("function_name"), str):
        raise ValueError(f"it has a call without a function_name, {call!r:.40}")
    return written_call(call["function_name"], call.get("arguments", {}))


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"{name} must be an object, got {value!r:.40}")
    return value or {}


def _list(parent: Mapping[str, Any], name: str) -> list[Any]:
    value = parent.get(name)
    if value is not None and not isinstance(value, list):
        raise ValueError(f"{name} must be a list, got {value!r:.40}")
    return value or []
