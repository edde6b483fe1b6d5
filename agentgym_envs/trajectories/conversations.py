"""Reads published conversations: ShareGPT's rows, OpenAI's messages, TRL's pairs.

    {"system": ..., "conversations": [{"from": "human", "value": ...}, {"from": "gpt", ...}, ...]}
    {"messages": [{"role": "user", "content": ...}, {"role": "assistant", "content": ...}]}
    {"prompt": ..., "completion": ...}, each a text or a list of messages

A call of a tool is written as the action format `function_call` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"

UNNAMED = "conversation"
"""The name of conversations without a task, before their number in the file."""

_ROLES = {
    **dict.fromkeys(("system", "developer"), SYSTEM),
    **dict.fromkeys(("human", "user"), USER),
    **dict.fromkeys(("tool", "observation", "function", "function_response", "ipython"), "tool"),
    **dict.fromkeys(("gpt", "assistant", "model", "chatgpt", "function_call"), ASSISTANT),
}
"""The names of senders, by role."""


@dataclass(frozen=True)
class Conversation:
    """A conversation by turns.

    Attributes:
        system_prompt: empty where there is none.
        observations: what the policy reads before each of its turns, and perhaps after the last.
        replies: the policy's texts, each with whether it is trained on.
    """

    system_prompt: str
    observations: list[str]
    replies: list[tuple[str, bool]]


def is_conversation(row: Any) -> bool:
    """Return whether a row is in one of the forms."""
    return isinstance(row, Mapping) and (
        "conversations" in row or "messages" in row or {"prompt", "completion"} <= set(row)
    )


def read_conversation(row: Mapping[str, Any], name: str) -> Conversation:
    """Return the turns of a row.

    Messages of one sender follow each other only where a tool has answered: its answers, and what
    the user says with them, are one observation.

    Args:
        row: a row in one of the forms.
        name: the row's, for messages.

    Raises:
        ValueError: a message has no text or no known sender, or two of a sender follow each other.
    """
    system = [row["system"]] if isinstance(row.get("system"), str) and row["system"] else []
    observations: list[str] = []
    replies: list[tuple[str, bool]] = []
    last = ""
    for index, message in enumerate(_messages(row, name), 1):
        role, text, trained = _read_message(message, f"{name}: message {index}")
        if role == SYSTEM and not last:
            system.append(text)
            continue
        role = USER if role == SYSTEM else role
        if role == ASSISTANT:
            if last in ("", ASSISTANT):
                raise ValueError(_out_of_turn(name, index, "human", message))
            replies.append((text, trained))
        elif last in (USER, "tool"):
            if role == last == USER:
                raise ValueError(_out_of_turn(name, index, "gpt", message))
            observations[-1] += f"\n{text}"
        else:
            observations.append(text)
        last = role
    return Conversation("\n\n".join(system), observations, replies)


def _messages(row: Mapping[str, Any], name: str) -> Iterator[Any]:
    if "prompt" in row and "completion" in row:
        for message in _listed(row["prompt"], USER):
            yield {**message, "loss": False} if _role(message) == ASSISTANT else message
        yield from _listed(row["completion"], ASSISTANT)
        return
    messages = row.get("conversations", row.get("messages"))
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise ValueError(
            f"{name} has no conversation: AgentEval files name tasks and hold no episodes; "
            "play them with `agentgym collect`"
        )
    yield from messages


def _listed(part: Any, role: str) -> Sequence[Any]:
    return [{"role": role, "content": part}] if isinstance(part, str) else part


def _sender(message: Any) -> str:
    sender = message.get("from", message.get("role")) if isinstance(message, Mapping) else message
    return sender if isinstance(sender, str) else ""


def _role(message: Any) -> str | None:
    """Return whose a message is, or None where its sender is unknown."""
    return _ROLES.get(_sender(message).lower())


def _read_message(message: Any, where: str) -> tuple[str, str, bool]:
    """Return whose a message is, its text, and whether it is trained on."""
    role = _role(message)
    if role is None:
        raise ValueError(
            f"{where} must be from 'human' or 'gpt' (or {', '.join(_ROLES)}); it is from "
            f"{_sender(message)!r:.40}"
        )
    content = message.get("value", message.get("content"))
    text = content if isinstance(content, str) else _joined(content)
    older = message.get("function_call")  # OpenAI's, before tool_calls
    calls = message.get("tool_calls") or ([older] if isinstance(older, Mapping) else [])
    calls = [_written(call, where) for call in calls]
    if text is None and not calls:
        raise ValueError(f"{where} has no text, got {content!r:.40}")
    trained = message.get("loss") is not False and message.get("weight") != 0
    return role, "\n".join(filter(None, [text, *calls])), trained


def _joined(content: Any) -> str | None:
    """Return the text of a content that is a list of parts, or None."""
    if not isinstance(content, list):
        return None
    texts: list[Any] = [part.get("text") if isinstance(part, Mapping) else None for part in content]
    return "".join(texts) if texts and all(isinstance(text, str) for text in texts) else None


def _written(call: Any, where: str) -> str:
    """Return a tool's call as one JSON object with `name` and `arguments`."""
    function = (call.get("function") or call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ValueError(f"{where} has a call without the name of its function, {call!r:.40}")
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            pass  # the policy's own malformed text is kept as it is
    return written_call(function["name"], arguments)


def written_call(name: str, arguments: Any) -> str:
    """Return a tool's call as the action format `function_call` writes it."""
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def _out_of_turn(name: str, index: int, expected: str, message: Any) -> str:
    return (
        f"{name}: message {index} must be from {expected!r}, since human and gpt take turns; it is "
        f"from {_sender(message)!r:.40}"
    )
