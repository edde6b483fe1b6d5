"""Reads JSON objects and Python calls that a policy writes, which are never executed."""

from __future__ import annotations

import ast
import json
import re
import threading
import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.errors import InvalidAction

MAX_CODE = 50_000
"""Longest Python text that is read: reading holds up every thread."""

_PYTHON_OBJECT = re.compile(r"\{\s*(?:'|.{0,5000},\s*\}\s*\Z)", re.DOTALL)
"""A text that may be a Python object: its keys are in single quotes, or it ends in a comma."""
_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are read
_PARSING = threading.Lock()  # `catch_warnings` swaps global state
_ONE_CALL = (
    "Your answer must hold one call of one function in a fenced Python block (```python ... ```), "
    "and the block nothing else."
)


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


def short_name(name: Any) -> str:
    """Return a function's name without the namespace before it, in one spelling."""
    return re.sub(r"[\s-]+", "_", str(name).rpartition(".")[2].strip().lower())


def decoded(text: str, start: int = 0) -> tuple[Any, int] | None:
    """Read the object that begins at `start`, as JSON or as Python writes it.

    It may lack its last brace.

    Returns:
        The object and where it ends, or None where there is none.
    """
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


def is_program(code: str) -> bool:
    """Return whether a text is Python that calls something, or comments alone."""
    try:
        body = read_python(code)
    except InvalidAction:
        return False
    nodes = (node for part in body for node in ast.walk(part))
    return not body or any(isinstance(node, ast.Call) for node in nodes)


_CHOICES = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar),
    *(ast.Match, ast.comprehension, ast.Return, ast.Lambda),
)


def is_straight(code: str) -> bool:
    """Return whether each line of a piece of Python runs once, whatever happens."""
    return not any(isinstance(n, _CHOICES) for part in read_python(code) for n in ast.walk(part))


def python_call(code: str, names: Sequence[str] = ()) -> Call:
    """Return the one call of a piece of Python. The same call twice is one.

    Raises:
        InvalidAction: as `run_calls`, or there are several.
    """
    calls = run_calls(code, names)
    if any(call != calls[0] for call in calls):
        raise InvalidAction(_ONE_CALL)
    return calls[0]


def run_calls(code: str, names: Sequence[str] = ()) -> list[Call]:
    """Return the calls of a piece of Python, in their order.

    They may stand anywhere in what runs of it: printed, awaited, returned, in a list or a function,
    as a method's, or with a name.

    Args:
        code: the text.
        names: the functions'; a call of another counts where there is none of these.

    Raises:
        InvalidAction: the code is something else, or the arguments are no literals.
    """
    body = read_python(code)
    called = {_name(node) for part in body for node in ast.walk(part) if isinstance(node, ast.Call)}
    calls = [
        node for part in body for node in _run_nodes(part, called) if isinstance(node, ast.Call)
    ]
    own = [call for call in calls if short_name(_name(call)) in names]
    if not own and len(body) == 1:
        own = calls[:1]
    read = [_read(call) for call in own]
    if not read:
        raise InvalidAction(_ONE_CALL)
    return read


def _run_nodes(part: ast.AST, called: Container[str]) -> Iterator[ast.AST]:
    """Yield the nodes that run: none of a function that nothing calls, or of `if False`."""
    waiting = [part]  # not recursive: a policy may nest thousands
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in called:
            continue
        yield node
        if isinstance(node, ast.If) and isinstance(node.test, ast.Constant) and not node.test.value:
            waiting += reversed(node.orelse)
        else:
            waiting += reversed([*ast.iter_child_nodes(node)])


def _read(call: ast.Call) -> Call:
    named: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise InvalidAction(f"{_name(call)} takes its arguments one by one, without **.")
        named[keyword.arg] = _literal(keyword.value)
    return Call(_name(call), named, [_literal(argument) for argument in call.args])


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


def python_calls(code: str, names: Sequence[str] = ()) -> list[Call]:
    """Return the calls that a text of Python consists of: one, those of a list, or none.

    Args:
        code: the text.
        names: the functions'.
    """
    text = code.strip().strip("`").strip()
    try:
        body = read_python(text)
    except InvalidAction:
        return []
    node = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    parts = [text]
    if isinstance(node, ast.List | ast.Tuple):
        parts = [ast.unparse(part) for part in node.elts if isinstance(part, ast.Call)]
    calls: list[Call] = []
    for part in parts:
        try:
            calls.append(python_call(part, names))
        except InvalidAction:
            continue
    return calls


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise InvalidAction("Arguments must be literals: a string, a number or a list.") from None
