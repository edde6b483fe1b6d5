"""Reads the function calls of a completion, in the forms that language models write.

They are a JSON object `{"name": ..., "arguments": {...}}` in its many spellings, and the markup of
the families of `markup.toml`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from agentgym_envs.actions.literals import Call, decoded, python_calls, short_name
from agentgym_envs.actions.markup import (
    ARGUMENT_KEYS,
    CALLS,
    LABELS,
    NAME_KEYS,
    CallMarkup,
    result_start,
)
from agentgym_envs.actions.verbs import shown
from agentgym_envs.actions.wrapping import find_action
from agentgym_envs.errors import InvalidAction

FORM = '{"name": ..., "arguments": {...}}'

_MOST_READ = 50_000
_MOST_TRIES = 20
_OBJECT = re.compile(r"""\{\s*(?:["}]|'\w{1,40}'\s*:)""")
_NESTED_KEYS = ("function", "function_call", "tool_call", "action", "call", "functionCall")
_WORDS_BESIDE = LABELS - {"id", "index", "status", "content"}
"""Labels that are taken for no argument where a call's arguments stand beside its name."""


def read_call(turn: str, names: Sequence[str] = ()) -> Call:
    """Return the only call of a policy's turn. The same call twice is one.

    Raises:
        InvalidAction: as `read_calls`, or there are several.
    """
    calls = read_calls(turn, names)
    if any(call != calls[0] for call in calls):
        raise InvalidAction(
            f"Your answer holds {len(calls)} function calls; write one and leave out the others."
        )
    return calls[0]


def read_calls(turn: str, names: Sequence[str] = ()) -> list[Call]:
    """Return the calls of a policy's turn, in their order.

    Nothing counts behind an answer of the environment that the policy has invented.

    Args:
        turn: the text.
        names: the functions'.

    Raises:
        InvalidAction: there is none, or one holds what no call has.
    """
    text = turn[:_MOST_READ]
    calls = _calls(text[: result_start(text)] or text, names)
    if not calls:
        raise InvalidAction(f"Your answer holds no JSON object {FORM}.")
    return calls


def _calls(text: str, names: Sequence[str]) -> list[Call]:
    text = _unescaped(text)
    whole = decoded(text)
    if whole is not None and whole[1] == len(text):  # markup in its texts is text
        return list(_objects(text, names))
    return _marked(text, names) or list(_objects(text, names)) or _bare(text, names)


def _unescaped(text: str) -> str:
    """Return the text that a JSON string holds where the whole is one, as of a call in quotes."""
    text = text.strip()
    if text.startswith('"{') and text.endswith('}"'):
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            return text
    return text


# A family's markup ----------------------------------------------------------------------------


def _marked(text: str, names: Sequence[str]) -> list[Call]:
    """Return the calls in the first family's markup that there are any of."""
    for markup in CALLS:
        calls = [
            call
            for opening in islice(markup.opening.finditer(text), _MOST_TRIES)
            for call in _behind(text, opening, markup, names)
        ]
        if calls:
            return calls
    return []


def _behind(
    text: str, opening: re.Match[str], markup: CallMarkup, names: Sequence[str]
) -> Iterable[Call]:
    groups = opening.groupdict()
    prefix = groups.get("prefix") or ""
    end = text.find(markup.end.replace("{prefix}", prefix), opening.end()) if markup.end else -1
    body = text[opening.end() : len(text) if end < 0 else end]
    if markup.arguments == "python":
        return python_calls(body, names)
    if markup.arguments == "json":
        arguments = decoded(text, opening.end())
        return [] if arguments is None else [_with_arguments(groups["name"], arguments[0])]
    if markup.arguments == "braces":
        return [Call(groups["name"], _braced(body, markup.quotes))]
    values = dict(_parameters(body, re.compile(markup.parameter), markup.parameter_end))
    if not values and body.strip().startswith("{"):
        arguments = decoded(body.strip())
        return [_with_arguments(groups["name"], body if arguments is None else arguments[0])]
    return [Call(groups["name"], values)]


def _parameters(body: str, pattern: re.Pattern[str], ending: str) -> Iterator[tuple[str, str]]:
    openings = list(pattern.finditer(body))
    for number, opening in enumerate(openings):
        last = openings[number + 1].start() if number + 1 < len(openings) else len(body)
        tag = opening.groupdict().get("tag") or ""
        end = body.find(ending.replace("{tag}", tag), opening.end(), last)
        yield opening["key"], body[opening.end() : last if end < 0 else end].strip()


def _braced(body: str, quotes: Sequence[str]) -> dict[str, Any]:
    """Read `{key:<escape>text<escape>,count:3}`, the arguments of Google's models."""
    quote = "|".join(map(re.escape, quotes))
    pair = re.compile(
        rf"\s*[{{,]\s*(?:{quote})?(\w{{1,100}})(?:{quote})?\s*:\s*"
        rf"(?:({quote})(.*?)(?:\2)|([^,{{}}<]{{0,1000}}))",
        re.DOTALL,
    )
    values: dict[str, Any] = {}
    place = 0
    while match := pair.match(body, place):
        values[match[1]] = match[3] if match[2] else _bare_value(match[4].strip())
        place = match.end()
    return values


def _bare_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


# JSON objects ---------------------------------------------------------------------------------


def _objects(text: str, names: Sequence[str]) -> Iterator[Call]:
    """Yield the calls among the JSON objects of a text, whatever stands around them."""
    position, tries = 0, 0
    while tries < _MOST_TRIES and (start := _OBJECT.search(text, position)):
        tries += 1
        result = decoded(text, start.start())
        if result is None:
            position = start.start() + 1
        else:
            value, position = result
            yield from _calls_in(value, names)


def _calls_in(value: Mapping[str, Any], names: Sequence[str]) -> Iterator[Call]:
    for key in _NESTED_KEYS:
        if isinstance(value.get(key), Mapping):
            yield from _calls_in(value[key], names)
            return
    if isinstance(value.get("tool_calls"), list):
        for call in value["tool_calls"]:
            if isinstance(call, Mapping):
                yield from _calls_in(call, names)
        return
    name = next((key for key in NAME_KEYS if key in value), None)
    if name is not None:
        yield _call(value, name)
    elif len(value) == 1 and isinstance(next(iter(value.values())), Mapping):
        ((function, arguments),) = value.items()
        if short_name(function) in names:  # Apertus: {"get": {"count": 3}}
            yield Call(function, arguments)


def _call(value: Mapping[str, Any], name: str) -> Call:
    keys = [key for key in ARGUMENT_KEYS if key in value]
    if not keys:
        beside = {k: v for k, v in value.items() if k != name and k not in _WORDS_BESIDE}
        return Call(value[name], beside)
    others = [key for key in value if key not in {name, *LABELS, *keys[:1]}]
    if others:
        raise InvalidAction(
            f'The JSON object needs the keys "name" and "arguments"; leave out {shown(others[0])}.'
        )
    return _with_arguments(value[name], value[keys[0]])


def _with_arguments(name: Any, value: Any) -> Call:
    """Return a call with arguments as an object, as a list, or as a text of one of these."""
    if isinstance(value, str):
        try:
            value = json.loads(value, strict=False) if value.strip() else {}
        except (ValueError, RecursionError):
            raise InvalidAction('"arguments" must be a JSON object.') from None
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        value = value[0]
    if isinstance(value, list):
        return Call(name, positional=value)
    if value is not None and not isinstance(value, Mapping):
        raise InvalidAction('"arguments" must be a JSON object.')
    return Call(name, value or {})


# Python ---------------------------------------------------------------------------------------


def _bare(text: str, names: Sequence[str]) -> list[Call]:
    """Return the Python calls of functions that a text without markup consists of."""

    def is_call(part: str) -> bool:
        calls = python_calls(part, names)
        return bool(calls) and all(short_name(call.name) in names for call in calls)

    code = find_action(text, is_call) if names and "(" in text else None
    return [] if code is None else python_calls(code, names)
