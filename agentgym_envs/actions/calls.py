"""Reads the one function call that a completion holds, in the forms that language models write.

They are a JSON object `{"name": ..., "arguments": {...}}`, bare, fenced or in the tags of Qwen and
Hermes (`<tool_call>`); OpenAI's call object, whose arguments may be a JSON string; Llama's
`"parameters"`; and the tags `<function=name>` around a JSON object or `<parameter=name>` values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentgym_envs.actions.verbs import shown
from agentgym_envs.errors import InvalidAction

FORM = '{"name": ..., "arguments": {...}}'

_MOST_READ = 50_000
_MOST_TRIES = 20
_OBJECT = re.compile(r'\{\s*["}]')
_FUNCTION_TAG = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER_TAG = re.compile(r"<parameter=(\w+)>((?:(?!<parameter=).)*?)</parameter>", re.DOTALL)
_ARGUMENTS = ("arguments", "parameters")
_LABELS = frozenset({"id", "type", "index", "call_id", "status"})
"""What OpenAI's call objects hold beside the call."""


def read_call(completion: str) -> tuple[Any, Mapping[str, Any]]:
    """Return the name and the arguments of the only call.

    Raises:
        InvalidAction: there is none, or there are several, or it holds what no call has.
    """
    text = completion[:_MOST_READ]
    calls = list(_tagged(text)) or list(_objects(text))
    if not calls:
        raise InvalidAction(f"Your answer holds no JSON object {FORM}.")
    if len(calls) > 1:
        raise InvalidAction(
            f"Your answer holds {len(calls)} function calls; write one and leave out the others."
        )
    return calls[0]


def _tagged(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, inner in _FUNCTION_TAG.findall(text):
        values = {key: value.strip() for key, value in _PARAMETER_TAG.findall(inner)}
        yield name, values or _arguments(inner.strip())


def _objects(text: str) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield the calls among the JSON objects of a text, whatever stands around them."""
    decoder = json.JSONDecoder(strict=False)  # line breaks within strings are read
    position, tries = 0, 0
    while tries < _MOST_TRIES and (start := _OBJECT.search(text, position)):
        tries += 1
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.start() + 1
        else:
            yield from _calls_in(value)


def _calls_in(value: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    if isinstance(value.get("function"), Mapping):
        yield from _calls_in(value["function"])
    elif isinstance(value.get("tool_calls"), list):
        for call in value["tool_calls"]:
            if isinstance(call, Mapping):
                yield from _calls_in(call)
    elif "name" in value:
        yield _call(value)


def _call(value: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    given = [key for key in _ARGUMENTS if key in value]
    others = [key for key in value if key not in {"name", *_LABELS, *given[:1]}]
    if others:
        raise InvalidAction(
            f'The JSON object needs the keys "name" and "arguments"; leave out {shown(others[0])}.'
        )
    return value["name"], _arguments(value[given[0]] if given else {})


def _arguments(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value, strict=False) if value.strip() else {}
        except (ValueError, RecursionError):
            raise InvalidAction('"arguments" must be a JSON object.') from None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidAction('"arguments" must be a JSON object.')
    return value
