"""Reads the one function call of a completion, in the forms that language models write.

They are a JSON object `{"name": ..., "arguments": {...}}` in its many spellings, and the markup of
the families of `markup.toml`.
"""

from __future__ import annotations

import ast
import json
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from agentgym_envs.actions.markup import (
    ARGUMENT_KEYS,
    CALLS,
    LABELS,
    NAME_KEYS,
    CallMarkup,
    first_turn,
    result_start,
)
from agentgym_envs.actions.verbs import shown
from agentgym_envs.actions.wrapping import find_action
from agentgym_envs.errors import InvalidAction

FORM = '{"name": ..., "arguments": {...}}'

MAX_CODE = 50_000
"""Longest Python text that is read: reading holds up every thread."""

_MOST_READ = 50_000
_MOST_TRIES = 20
_OBJECT = re.compile(r"""\{\s*(?:["}]|'\w{1,40}'\s*:)""")
_PYTHON_OBJECT = re.compile(r"\{\s*(?:'|.{0,5000},\s*\}\s*\Z)", re.DOTALL)
"""An object that may be Python's: its keys are in single quotes, or a comma stands at its end."""
_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are read
_NESTED_KEYS = ("function", "function_call", "tool_call", "action", "call", "functionCall")
_WORDS_BESIDE = LABELS - {"id", "index", "status", "content"}
"""Labels that are taken for no argument where a call's arguments stand beside its name."""
_PARSING = threading.Lock()  # `catch_warnings` swaps global state


@dataclass(frozen=True)
class Call:
    """A function call.

    Attributes:
        name: the function's, as written.
        arguments: those that are named.
        positional: those that are not, as Python has them.
    """

    name: Any
    arguments: Mapping[str, Any] = field(default_factory=dict)
    positional: Sequence[Any] = ()


def read_call(completion: str, names: Sequence[str] = ()) -> Call:
    """Return the only call of a completion.

    Of what stands behind an answer of the environment that the policy has invented, nothing counts.

    Args:
        completion: the policy's.
        names: the functions'.

    Raises:
        InvalidAction: there is none, or there are several, or it holds what no call has.
    """
    text = first_turn(completion[:_MOST_READ])
    end = result_start(text)
    calls = _calls(text[:end], names)
    if end < len(text) and len(calls) < 2:
        whole = _calls(text, names)
        # Lines of an argument may look like an answer; then the one call goes on behind them.
        if not calls or [call.name for call in whole] == [calls[0].name]:
            calls = whole
    if not calls:
        raise InvalidAction(f"Your answer holds no JSON object {FORM}.")
    if len(calls) > 1:
        raise InvalidAction(
            f"Your answer holds {len(calls)} function calls; write one and leave out the others."
        )
    return calls[0]


def _calls(text: str, names: Sequence[str]) -> list[Call]:
    return _marked(text) or list(_objects(text, names)) or _bare(text, names)


def short_name(name: Any) -> str:
    """Return a function's name without the namespace before it, in one spelling."""
    return re.sub(r"[\s-]+", "_", str(name).rpartition(".")[2].strip().lower())


# A family's markup ----------------------------------------------------------------------------


def _marked(text: str) -> list[Call]:
    """Return the calls in the first family's markup that there are any of."""
    for markup in CALLS:
        calls = [
            call
            for opening in islice(markup.opening.finditer(text), _MOST_TRIES)
            for call in _behind(text, opening, markup)
        ]
        if calls:
            return calls
    return []


def _behind(text: str, opening: re.Match[str], markup: CallMarkup) -> Iterable[Call]:
    groups = opening.groupdict()
    prefix = groups.get("prefix") or ""
    end = text.find(markup.end.replace("{prefix}", prefix), opening.end()) if markup.end else -1
    body = text[opening.end() : len(text) if end < 0 else end]
    if markup.arguments == "python":
        return _python_calls(body)
    if markup.arguments == "json":
        arguments = _decoded(text, opening.end())
        return [] if arguments is None else [Call(groups["name"], _arguments(arguments[0]))]
    if markup.arguments == "braces":
        return [Call(groups["name"], _braced(body, markup.quotes))]
    pattern = re.compile(markup.parameter.replace("{prefix}", re.escape(prefix)))
    ending = markup.parameter_end.replace("{prefix}", prefix)
    values = dict(_parameters(body, pattern, ending))
    if not values and body.strip().startswith("{"):
        decoded = _decoded(body.strip(), 0)
        return [Call(groups["name"], _arguments(body if decoded is None else decoded[0]))]
    return [Call(groups["name"], values)]


def _parameters(body: str, pattern: re.Pattern[str], ending: str) -> Iterator[tuple[str, str]]:
    openings = list(pattern.finditer(body))
    for number, opening in enumerate(openings):
        last = openings[number + 1].start() if number + 1 < len(openings) else len(body)
        end = body.find(ending, opening.end(), last)
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
        decoded = _decoded(text, start.start())
        if decoded is None:
            position = start.start() + 1
        else:
            value, position = decoded
            yield from _calls_in(value, names)


def _decoded(text: str, start: int) -> tuple[Any, int] | None:
    """Read the object that begins at `start`, which may lack its last brace, or return None."""
    if not text.startswith("{", start):
        return None
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        return None
    except json.JSONDecodeError as error:
        if error.msg.startswith("Expecting ','"):
            try:
                return _DECODER.decode(text[start : error.pos].rstrip() + "}"), error.pos
            except (ValueError, RecursionError):
                return None
    end = text.rfind("}", start) + 1
    value = _python_object(text[start:end]) if _PYTHON_OBJECT.match(text, start) else None
    return None if value is None else (value, end)


def _python_object(text: str) -> dict[str, Any] | None:
    """Read an object in Python's spelling, `{'name': 'look'}`, or return None."""
    try:
        body = read_python(text)
        value = _literal(body[0].value) if isinstance(body[0], ast.Expr) else None
    except (InvalidAction, IndexError):
        return None
    return value if isinstance(value, dict) else None


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
    return Call(value[name], _arguments(value[keys[0]]))


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


# Python ---------------------------------------------------------------------------------------


def read_python(code: str) -> list[ast.stmt]:
    """Return the statements of a policy's Python code, which is read, never executed.

    Raises:
        InvalidAction: it is not valid Python, or too long.
    """
    if len(code) > MAX_CODE:
        raise InvalidAction(f"The block has {len(code)} characters; at most {MAX_CODE} are read.")
    try:
        with _PARSING, warnings.catch_warnings():
            # A policy's "\d" is no concern of the program's warning filters.
            warnings.simplefilter("ignore")
            return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidAction("The block is not valid Python.") from None


def python_call(code: str) -> Call:
    """Return the one call of a piece of Python.

    It may be printed, awaited, a list's only entry, a method's, or given a name.

    Raises:
        InvalidAction: the code is something else, or the arguments are no literals.
    """
    body = [line for line in read_python(code) if not _is_beside(line)]
    if len(body) == 2 and _shows_name(body[1]):  # x = look(), then print(x)
        body = body[:1]
    node: Any = body[0] if len(body) == 1 else None
    if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign):
        node = node.value
    while True:
        if isinstance(node, ast.Await):
            node = node.value
        elif isinstance(node, ast.List | ast.Tuple) and len(node.elts) == 1:
            node = node.elts[0]
        elif _is_around(node) and isinstance(node.args[0], ast.Call | ast.Await):
            node = node.args[0]
        else:
            break
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        raise InvalidAction(
            "Your answer must hold one call of one function in a fenced Python block (```python "
            "... ```), and the block nothing else."
        )
    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
    named: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise InvalidAction(f"{name} takes its arguments one by one, without **.")
        named[keyword.arg] = _literal(keyword.value)
    return Call(name, named, [_literal(argument) for argument in node.args])


def _is_beside(statement: ast.stmt) -> bool:
    """Whether a statement does nothing: an import, or a constant, such as a thought."""
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    return isinstance(statement, ast.Import | ast.ImportFrom) or isinstance(value, ast.Constant)


def _is_around(node: Any) -> bool:
    """Whether a call may hold another one that is meant: `print(look())`, `env.step(look())`."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return False
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    return name in ("print", "step", "act", "execute", "perform", "run")


def _shows_name(statement: ast.stmt) -> bool:
    node = statement.value if isinstance(statement, ast.Expr) else None
    shown_node = node.args[0] if _is_around(node) and isinstance(node, ast.Call) else node
    return isinstance(shown_node, ast.Name)


def _python_calls(code: str) -> list[Call]:
    """Return the calls that a text of Python consists of: one, those of a list, or none."""
    text = code.strip().strip("`").strip()
    try:
        body = read_python(text)
    except InvalidAction:
        return []
    node = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    parts: list[str] = [text]
    if isinstance(node, ast.List | ast.Tuple):
        parts = [ast.unparse(part) for part in node.elts if isinstance(part, ast.Call)]
    return [call for part in parts if (call := _python_call(part)) is not None]


def _python_call(code: str) -> Call | None:
    try:
        return python_call(code)
    except InvalidAction:
        return None


def _bare(text: str, names: Sequence[str]) -> list[Call]:
    """Return the Python calls of functions that a text without markup consists of."""

    def is_call(part: str) -> bool:
        calls = _python_calls(part)
        return bool(calls) and all(short_name(call.name) in names for call in calls)

    code = find_action(text, is_call) if names and "(" in text else None
    return [] if code is None else _python_calls(code)


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise InvalidAction("Arguments must be literals: a string, a number or a list.") from None
