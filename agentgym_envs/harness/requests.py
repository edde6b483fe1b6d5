"""Reads the requests of OpenAI's chat completions and writes their answers."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import uuid4

POLICY = "policy"
"""The model's name in answers. Requests may name any."""

_ROLES = ("system", "developer", "user", "assistant", "tool")
_NOT_SERVED = {
    "tools": "describe the tools in a message, and read the calls out of the answer's text",
    "functions": "describe the functions in a message, and read the calls out of the answer's text",
    "logprobs": "they are kept in the episode's trace",
    "audio": "the policy writes text",
}
"""Parameters that change the kind of the answer, each with a remedy."""


class BadRequest(Exception):
    """A request that cannot be answered.

    Attributes:
        status: the HTTP status.
        code: OpenAI's `error.code`.
    """

    def __init__(self, message: str, *, status: int = 400, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    def to_json(self) -> dict[str, Any]:
        """Return OpenAI's form of an error."""
        return {"error": {"message": str(self), "type": "invalid_request_error", "code": self.code}}


class ChatRequest(NamedTuple):
    """One request.

    Attributes:
        messages: (role, text) of each, in their order; the last one is not the assistant's.
        stop: texts that end an answer, and are no part of it.
        stream: the answer is sent as events.
    """

    messages: tuple[tuple[str, str], ...]
    stop: tuple[str, ...] = ()
    stream: bool = False

    def cut(self, text: str) -> str:
        """Return an answer up to the first of `stop`."""
        return text[: min([len(text), *(place for s in self.stop if (place := text.find(s)) >= 0)])]


def read_request(body: bytes) -> ChatRequest:
    """Read the body of a request.

    Sampling parameters (`temperature`, `max_tokens`, `seed`) and `model` are the policy's own and
    are not read.

    Raises:
        BadRequest: it is no request, or wants more than one text.
    """
    try:
        values = json.loads(body)
        messages = values["messages"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadRequest("the body must be a JSON object with `messages`") from error
    for name, remedy in _NOT_SERVED.items():
        if values.get(name):
            raise BadRequest(f"`{name}` is not served; leave it out: {remedy}")
    if values.get("n") not in (None, 1):
        raise BadRequest(f"`n` must be 1, got {values['n']!r}; send several requests")
    form = values.get("response_format")
    if form not in (None, {"type": "text"}):
        raise BadRequest(
            f"`response_format` must be text, got {form!r:.80}; ask for it in a message"
        )
    if not isinstance(messages, list) or not messages:
        raise BadRequest(f"`messages` must be a list of messages, got {messages!r:.80}")
    read = tuple(_read_message(message) for message in messages)
    if read[-1][0] == "assistant":
        raise BadRequest("the last of `messages` is the assistant's; end with a user's message")
    stop = values.get("stop") or []
    stop = [stop] if isinstance(stop, str) else stop
    if not isinstance(stop, list) or not all(isinstance(text, str) and text for text in stop):
        raise BadRequest(f"`stop` must be a text or several, none of them empty, got {stop!r:.80}")
    return ChatRequest(read, tuple(stop), bool(values.get("stream")))


def _read_message(message: Any) -> tuple[str, str]:
    if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
        raise BadRequest(f"a message must have one of the roles {_ROLES}, got {message!r:.80}")
    if message.get("tool_calls"):
        raise BadRequest("`tool_calls` are not served; write a call as text")
    content = message.get("content")
    if isinstance(content, list):
        parts = [part if isinstance(part, Mapping) else {} for part in content]
        if any(part.get("type") not in ("text", "input_text") for part in parts):
            raise BadRequest(f"the policy reads text alone, got the content {content!r:.80}")
        content = "".join(str(part.get("text", "")) for part in parts)
    if not isinstance(content, str):
        raise BadRequest(f"a message's `content` must be a text, got {content!r:.80}")
    return str(message["role"]), content


def answer(text: str) -> dict[str, Any]:
    """Return the answer with a text."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0)
    return {**_head("chat.completion"), "choices": [{"index": 0, **choice}], "usage": usage}


def events(text: str) -> bytes:
    """Return the answer with a text as server-sent events."""
    head = _head("chat.completion.chunk")
    deltas = [({"role": "assistant", "content": text}, None), ({}, "stop")]
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in deltas
    ]
    return b"".join(f"data: {line}\n\n".encode() for line in (*map(json.dumps, chunks), "[DONE]"))


def _head(kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": POLICY,
    }
