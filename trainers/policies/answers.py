"""Reads the answers and refusals of OpenAI-compatible servers, in their various forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentgym_envs.actions import CUT_THOUGHT, strip_thinking
from agentgym_envs.machinery.secrets import masked
from agentgym_envs.trajectories.trajectory import CUT
from trainers.backends.json_client import RequestRefused
from trainers.ledger import Answer
from trainers.options.errors import RefusedForGood

_OVERFLOW = ("context length", "context_length", "context window", "maximum context", "too long")
_FILTERED = (
    "content_filter", "content filter", "content management policy", "content_policy",
    "responsibleaipolicy", "data_inspection", "prohibited_content", "moderation", "flagged",
    "safety system",
)  # fmt: skip
"""Words with which Azure, OpenAI, DashScope, Gemini and OpenRouter refuse a prompt."""

_BROKEN_OFF = {"error", "network_error", "abort", "aborted"}
CONTENT_FILTER = "content_filter"
"""OpenAI's finish reason where a filter took the answer."""
_REFUSAL = "refusal"
"""OpenAI's field and part of a message that refuses, and Anthropic's finish reason."""


def read_answer(body: Any) -> Answer:
    """Read a server's answer.

    Content may be text, null or a list of parts; reasoning may stand in `reasoning_content`
    (DeepSeek, vLLM), `reasoning` (OpenRouter) or parts of its own. Of several tool calls the first
    counts, for an episode plays one action a turn. A refusal is marked text, or in OpenAI's field.

    Raises `ValueError` for an answer without a message, or a broken one: OpenRouter answers with
    status 200, an `error` and such a finish reason if a provider fails, vLLM and SGLang if a
    request is aborted.
    """
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content, reasoning, is_refusal = _parts(message.get("content"))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise ValueError(f"the answer holds no message: {str(masked(body))[:300]}") from None
    reasons = {str(choice.get(name)) for name in ("finish_reason", "native_finish_reason")}
    if reasons & _BROKEN_OFF or choice.get("error") or body.get("error"):
        raise ValueError(f"the answer broke off: {str(masked(body))[:300]}")
    apart = message.get("reasoning_content") or message.get("reasoning")
    reasoning = reasoning or (apart if isinstance(apart, str) else "")
    if isinstance(refusal := message.get(_REFUSAL), str) and refusal:
        content = "\n\n".join(filter(None, [content, refusal]))
        is_refusal = True
    call = _tool_call(message.get("tool_calls") or [{"function": message.get("function_call")}])
    if call is not None:
        reasoning = "\n\n".join(filter(None, [reasoning, content]))
    return replace(
        read_usage(body),
        text=content if call is None else call,
        finish_reason=str(choice.get("finish_reason") or ""),
        reasoning=reasoning,
        is_refusal=call is None and (is_refusal or _REFUSAL in reasons),
        is_call=call is not None,
    )


def is_within_thought(answer: Answer) -> bool:
    """Return whether an answer may have been cut off before its thought ended.

    The server's chat template may have opened the thought invisibly. So a text that was cut counts
    as a thought unless one has ended before it, in the text or apart from it. A tool call of the
    server's is none: its arguments are JSON only if they are complete.
    """
    has_ended = answer.is_call or strip_thinking(answer.text) not in (answer.text, CUT_THOUGHT)
    return answer.finish_reason == CUT and not (has_ended or (answer.reasoning and answer.text))


def read_usage(body: Any) -> Answer:
    """Read the tokens and the charge that a server reports for an answer.

    Some count reasoning apart from `completion_tokens` (xAI, gateways to Gemini), and charge it:
    the completion is the total without the prompt.
    """
    usage = body.get("usage") if isinstance(body, dict) else None
    usage = usage if isinstance(usage, dict) else {}
    prompt, total = _count(usage, "prompt_tokens"), _count(usage, "total_tokens")
    completion = _count(usage, "completion_tokens")
    if prompt:
        completion = max(completion, total - prompt)
    cost = usage.get("cost")
    return Answer(
        text="",
        prompt_tokens=prompt or max(0, total - completion),
        cached_tokens=_count(usage.get("prompt_tokens_details") or {}, "cached_tokens")
        or _count(usage, "prompt_cache_hit_tokens"),
        completion_tokens=completion,
        cost=float(cost) if isinstance(cost, int | float) else None,
    )


def _parts(content: Any) -> tuple[str, str, bool]:
    """Return the text and the reasoning of a message's content, and whether a part refuses."""
    if content is None or isinstance(content, str):
        return content or "", "", False
    texts: dict[bool, list[str]] = {False: [], True: []}
    is_refusal = False
    for part in content:
        kind = "text" if isinstance(part, str) else part.get("type", "text")
        text = part if isinstance(part, str) else part.get("text") or part.get(kind)
        if isinstance(text, str):
            texts[kind in ("thinking", "reasoning")].append(text)
            is_refusal |= kind == _REFUSAL
    return "".join(texts[False]), "".join(texts[True]), is_refusal


def _tool_call(calls: Any) -> str | None:
    """Return the first tool call as one JSON object, if there is one."""
    try:
        function = calls[0]["function"]
        name, arguments = function["name"], function.get("arguments")
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            pass  # the environment says what is wrong with it
    return json.dumps({"name": name, "arguments": arguments or {}}, ensure_ascii=False)


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return int(value) if isinstance(value, int | float) else 0


def is_overflow(error: RequestRefused) -> bool:
    """Return whether a prompt was refused for its length."""
    return error.status in (400, 413, 422) and _has(error, _OVERFLOW)


def is_filtered(error: RequestRefused) -> bool:
    """Return whether a prompt was refused for its content."""
    return error.status in (400, 403, 422, 451) and _has(error, _FILTERED)


def concerns_one_prompt(error: RequestRefused) -> bool:
    """Return whether a refusal may concern this prompt alone, not the form of every request."""
    return error.status in (400, 413, 422, 451)


def explained(error: RequestRefused, *, key: str) -> RefusedForGood:
    """Return the error for a refusal that every request meets, naming the key's variable."""
    if error.status in (401, 403):
        return RefusedForGood(f"{error}; put the server's key into the environment variable {key}")
    if error.status in (200, 404):  # 200: a web page
        return RefusedForGood(
            f"{error}; check the address, which ends in /v1 as a rule, and the model's name "
            "(`api_model`, or model: in `policies`)"
        )
    if error.status in (402, 429):
        return RefusedForGood(
            f"{error}; the account behind {key} has no credit left. What is finished is kept: the "
            "same command goes on once it has, eval and collect with `resume`"
        )
    return RefusedForGood(f"{error}; `api_kwargs` can add fields to the requests or leave some out")


def _has(error: RequestRefused, words: tuple[str, ...]) -> bool:
    return any(word in error.message.lower() for word in words)
