"""Writes trajectories as ATIF, the Agent Trajectory Interchange Format (Harbor's RFC 0001).

    {"schema_version": "ATIF-v1.7", "agent": {...}, "steps": [
        {"step_id": 1, "source": "system", "message": SYSTEM PROMPT},
        {"step_id": 2, "source": "user", "message": FIRST OBSERVATION},
        {"step_id": 3, "source": "agent", "message": COMPLETION,
         "observation": {"results": [{"content": NEXT OBSERVATION}]}, "metrics": {...}}]}

An agent step is a turn and what its action led to. `message` is the text as the policy wrote it: a
consumer that trains on messages learns what was sampled. There are no `tool_calls`, which are
structured calls; ATIF has actions in a message, whose result names no call. `reasoning_content` is
a thought that is marked as one: given apart by a server, or before the last `</think>`. A ReAct
thought is part of the answer and stays there. What ATIF has no field for is in `extra`, under
`agentgym`. `agentgym_envs.trajectories.atif_reader` reads all of it back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from agentgym_envs.actions import strip_thinking
from agentgym_envs.trajectories.trajectory import ModelCall, TokenTrace, Trajectory, Turn

VERSION = "ATIF-v1.7"
"""The oldest version that has all we write, which most programs read."""

AGENT = "agentgym-envs"
OURS = "agentgym"
"""The key of our values in the `extra` of a document and of a step."""

EPISODE_FIELDS = (
    *("env_id", "task_id", "subtask", "split", "source", "goal", "policy", "global_step"),
    *("status", "truncated_by", "success", "score", "error", "verdict", "judgements"),
    *("env_kwargs", "horizon"),
)
"""Fields of a trajectory for which ATIF has none."""

_THOUGHT = re.compile(r"(\s*<think>\n*)?(.*?)(\n*</think>\n*)", re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACED = "Characters that UTF-8 does not have were replaced by U+FFFD."
_NO_CALL = ModelCall()


def to_atif(
    trajectory: Trajectory, *, trajectory_id: str = "", agent_version: str = "unknown"
) -> dict[str, Any]:
    """Turn an episode into an ATIF document, as JSON values.

    Args:
        trajectory: the episode.
        trajectory_id: of the document; empty leaves it out.
        agent_version: that of the program that played, or else of the one that writes.
    """
    trajectory = trajectory.whole()
    turns = trajectory.turns
    samples = list(_samples(trajectory.traces))
    own = {name: getattr(trajectory, name) for name in EPISODE_FIELDS}
    own = {name: value for name, value in own.items() if value not in ("", None)}
    own["reward"] = trajectory.episode_return
    are_of_turns = _are_of(samples, turns) and joined(samples) == trajectory.traces
    if trajectory.traces and not are_of_turns:
        samples = []
        own["traces"] = [dict(vars(trace)) for trace in trajectory.traces]
    steps = list(_steps(trajectory, samples))
    agent = {"name": AGENT, "version": agent_version}
    if any(_is_sampled(turn) for turn in turns):
        agent["model_name"] = trajectory.policy
    document = {
        "schema_version": VERSION,
        **({"trajectory_id": trajectory_id} if trajectory_id else {}),
        "agent": agent,
        "steps": steps,
        "final_metrics": _final_metrics(steps),
        "extra": {OURS: own},
    }
    written = _without_surrogates(document)
    return document if written == document else {**written, "notes": _REPLACED}


def to_line(document: dict[str, Any]) -> bytes:
    """Return a document as a line of JSON.

    Raises:
        ValueError: it holds a number that JSON has not.
    """
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except ValueError as error:
        name = document.get("trajectory_id", "the document")
        raise ValueError(f"{name} cannot be written; leave it out ({error})") from error


def joined(samples: Iterable[dict[str, Any]]) -> list[TokenTrace]:
    """Return the traces of sampled turns, each with its prompt, completion and logprobs.

    A turn whose prompt continues the last trace extends it; another one begins a trace.

    Raises:
        ValueError: a turn has not one logprob per id.
    """
    traces: list[TokenTrace] = []
    for sample in samples:
        prompt, ids = sample["prompt_token_ids"], sample["completion_token_ids"]
        length = len(traces[-1]) if traces else 0
        # Given ids stand between two turns of a trace.
        if not (0 < length < len(prompt) and prompt[:length] == traces[-1].ids):
            traces.append(TokenTrace(list(prompt)))
        trace = traces[-1]
        trace.append_given(prompt[len(trace) :])
        trace.append_action(ids, sample["logprobs"])
        if sample["advantages"]:
            given = len(trace.completion_ids) - len(trace.advantages) - len(ids)
            trace.advantages += [0.0] * given + sample["advantages"]
    return traces


def _samples(traces: Iterable[TokenTrace]) -> Iterator[dict[str, Any]]:
    """Yield the tokens of each sampled turn by ATIF's names, and its advantages."""
    for trace in traces:
        start = 0
        for end in trace.turn_ends():
            start = trace.action_mask.index(1, start)
            yield {
                "prompt_token_ids": trace.prompt_ids + trace.completion_ids[:start],
                "completion_token_ids": trace.completion_ids[start:end],
                "logprobs": trace.logprobs[start:end],
                "advantages": trace.advantages[start:end],
            }
            start = end


def _are_of(samples: Sequence[dict[str, Any]], turns: Sequence[Turn]) -> bool:
    """Return whether samples are those of the turns with tokens, in order."""
    lengths = [len(sample["completion_token_ids"]) for sample in samples]
    return lengths == [turn.num_tokens for turn in turns if turn.num_tokens]


def _is_sampled(turn: Turn) -> bool:
    """Return whether a language model is known to have written a turn."""
    return turn.num_tokens > 0 or turn.call is not None


def _steps(trajectory: Trajectory, samples: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    number, tokens = count(1), iter(samples)
    if trajectory.system_prompt:
        yield {"step_id": next(number), "source": "system", "message": trajectory.system_prompt}
    first, *others = [
        *(turn.observation for turn in trajectory.turns),
        trajectory.final_observation,
    ]
    yield {"step_id": next(number), "source": "user", "message": first}
    for place, (turn, result) in enumerate(zip(trajectory.turns, others, strict=True), 1):
        sample = next(tokens, {}) if turn.num_tokens else {}
        results = [{"content": result}] if result or place < len(others) else []
        step = {"step_id": next(number), "source": "agent"}
        yield {**step, **_turn_fields(turn, sample, results)}


def _turn_fields(
    turn: Turn, sample: dict[str, Any], results: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the fields of an agent step: text, results, metrics and reward."""
    own: dict[str, Any] = {"reward": turn.reward, "score": turn.score}
    own["is_valid_action"] = turn.is_valid_action
    if turn.action != strip_thinking(turn.completion):
        own["action"] = turn.action
    if turn.weights_step is not None:
        own["weights_step"] = turn.weights_step
    call = turn.call or _NO_CALL
    thought, message = call.reasoning, turn.completion
    if not thought and (marks := _marks(turn.completion)):
        opening, thought, closing = marks
        message = turn.completion[len(opening + thought + closing) :]
        own["thought_marks"] = [opening, closing]
    metrics = _metrics(turn, sample)
    if turn.call is not None:
        own["call"] = _rest_of(turn.call, metrics)
    step: dict[str, Any] = {"message": message}
    if thought:
        step["reasoning_content"] = thought
    if results:
        step["observation"] = {"results": results}
    if metrics:
        step["metrics"] = metrics
    step["extra"] = {OURS: own}
    if _is_sampled(turn):  # of the others nothing tells whether a model wrote them
        step["llm_call_count"] = 1
    if not turn.trained:
        step["is_copied_context"] = True
    return step


def _marks(completion: str) -> tuple[str, str, str] | None:
    """Return a thought with the marks before and behind it, or None where none is marked."""
    answer = strip_thinking(completion)
    head = completion.removesuffix(answer)
    match = _THOUGHT.fullmatch(head) if head != completion or not answer else None
    return None if match is None or not match[2] else (match[1] or "", match[2], match[3])


def _metrics(turn: Turn, sample: dict[str, Any]) -> dict[str, Any]:
    call = turn.call or _NO_CALL
    extra = {"seconds": call.seconds, "advantages": sample.get("advantages")}
    values = {
        "prompt_tokens": call.prompt_tokens or len(sample.get("prompt_token_ids", ())),
        "completion_tokens": turn.num_tokens,
        "cached_tokens": call.cached_tokens,
        "prompt_token_ids": sample.get("prompt_token_ids"),
        "completion_token_ids": sample.get("completion_token_ids"),
        "logprobs": sample.get("logprobs"),
        "extra": {name: value for name, value in extra.items() if value},
    }
    metrics = {name: value for name, value in values.items() if value}
    return metrics if call.cost is None else {**metrics, "cost_usd": call.cost}


def _rest_of(call: ModelCall, metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about an answer that are in no field of a step or of its metrics."""
    rest = {name: value for name, value in vars(call).items() if value != vars(_NO_CALL)[name]}
    for name in ("reasoning", "cached_tokens", "cost", "seconds", "prompt_tokens"):
        rest.pop(name, None)
    if call.prompt_tokens != metrics.get("prompt_tokens", 0):
        rest["prompt_tokens"] = call.prompt_tokens
    return rest


def _final_metrics(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    metrics = [step["metrics"] for step in steps if "metrics" in step]
    totals: dict[str, Any] = {}
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd"):
        if known := [one[name] for one in metrics if name in one]:
            totals[f"total_{name}"] = sum(known)
    totals["total_steps"] = len(steps)
    if seconds := sum(one.get("extra", {}).get("seconds", 0.0) for one in metrics):
        totals["extra"] = {"seconds": seconds}
    return totals


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: _without_surrogates(part) for name, part in value.items()}
    if isinstance(value, list) and any(isinstance(part, str | dict) for part in value[:1]):
        return [_without_surrogates(part) for part in value]
    return value  # most of a document are lists of numbers
