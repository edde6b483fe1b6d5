"""Makes a Python program count its own work, for limits that equal on every machine.

A step is a turn of a loop or of a comprehension, or a call of a function that the program defines.
The count is written into the program's text, on the lines that are there; `Counted.restored` takes
it out of a traceback again. What a single built-in call does, as in `sum(range(10**9))`, is not
counted, nor is what stands inside an f-string, whose place Python 3.11 does not tell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_STEPS = 1_000_000

# Names that no class changes into its own, of a function that the program may not shadow.
PRELUDE = f"__take__ = next\n__size__ = len\n__steps__ = iter(range(1, {MAX_STEPS + 2}))\nNone"
"""Code that runs in the session before each program."""
VALUE = "_ = "
"""Put before the expression whose value is to be shown."""
# An f-string is text, whatever the program has made of `repr` and of the names above.
SHOW_VALUE = """__text__ = "" if _ is None else f"{_!r}"
f"{f'{__size__(__text__)}':.20} {__text__:.2000}"
"""
"""Gives, after the program, the length of the value's text and its beginning."""
IS_SPENT = "__take__(__steps__, None) is None"
"""Gives, after the program, whether it has used its steps up."""

_STEP = "__take__(__steps__)"
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FRAME = re.compile(r'  File "program", line (\d+)')


class Insertion(NamedTuple):
    """Text that is put into a program.

    Attributes:
        line: of the program, from 0.
        column: before which byte of the line.
        text: what is put there.
    """

    line: int
    column: int
    text: str


class Counted:
    """A program that counts its steps.

    Args:
        program: its text.
        body: its statements.
        further: what else is put into it.
    """

    def __init__(
        self, program: str, body: list[ast.stmt], further: Iterable[Insertion] = ()
    ) -> None:
        lines = _encoded(program).splitlines(keepends=True)
        # Of two ends in one place the inner one's comes first: it was found later.
        self._inserted = sorted([*further, *reversed([*_steps(body)])], key=lambda i: i[:2])
        for line, column, text in reversed(self._inserted):
            lines[line] = lines[line][:column] + text.encode() + lines[line][column:]
        self._lines = [line.decode("utf-8", "surrogatepass") for line in lines]

    @property
    def text(self) -> str:
        """The program with its count."""
        return "".join(self._lines)

    def restored(self, traceback: str) -> str:
        """Return a traceback as the program itself would give it."""
        shown = traceback.split("\n")
        for place, line in enumerate(shown):
            frame = _FRAME.match(line)
            if frame and int(frame[1]) <= len(self._lines):
                self._restore(shown, place + 1, int(frame[1]) - 1)
        return "\n".join(shown)

    def _restore(self, shown: list[str], place: int, number: int) -> None:
        """Remove the counting from a line where it is shown, and from the marks below."""
        source = self._lines[number]
        indent = len(source) - len(source.lstrip())
        if place >= len(shown) or shown[place].strip() != source.strip():
            return
        spans, shift = [], 4 - indent
        for _, column, text in (i for i in self._inserted if i.line == number):
            start = len(source.encode()[:column].decode()) + shift
            spans.append((start, start + len(text)))
            shift += len(text)
        below = place + 1
        has_marks = below < len(shown) and shown[below].strip() and not shown[below].strip(" ~^")
        for start, end in reversed(spans):
            for row in (place, below) if has_marks else (place,):
                shown[row] = shown[row][:start] + shown[row][end:]


def returns_outside(body: list[ast.stmt]) -> bool:
    """Return whether a program returns outside of a function, which Python itself refuses."""
    left: list[ast.AST] = [*body]
    while left:
        node = left.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.expr)):
            left.extend(ast.iter_child_nodes(node))
    return False


def _encoded(program: str) -> bytes:
    return program.encode("utf-8", "surrogatepass")  # which is no program, as the sandbox says


def _steps(body: list[ast.stmt]) -> Iterator[Insertion]:
    """Yield the statements that count the steps of a program, outer parts first."""
    left: list[ast.AST] = list(reversed(body))
    while left:
        node = left.pop()
        if isinstance(node, ast.While):
            yield from _around(node.test, f"{_STEP} and (", ")")
        elif isinstance(node, (ast.For, ast.AsyncFor, *_FUNCTIONS)):
            yield from _at_first(node.body)
        elif isinstance(node, ast.Lambda):
            yield from _around(node.body, f"({_STEP}, ", ")[1]")
        elif isinstance(node, _COMPREHENSIONS):
            yield from _of_comprehension(node)
        if not isinstance(node, ast.JoinedStr):
            left.extend(reversed([*ast.iter_child_nodes(node)]))


def _of_comprehension(
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
) -> Iterator[Insertion]:
    for generator in node.generators:
        if generator.ifs:
            yield from _around(generator.ifs[0], f"{_STEP} and (", ")")
    if not node.generators[-1].ifs:
        shown = node.key if isinstance(node, ast.DictComp) else node.elt
        yield from _around(shown, f"({_STEP}, ", ")[1]")


def _at_first(body: list[ast.stmt]) -> Iterator[Insertion]:
    """Count a step where a block begins, in the first of its statements that can hold it."""
    for node in body:
        if isinstance(node, ast.While):
            return  # counts by itself
        if isinstance(node, ast.Try | ast.TryStar | ast.With | ast.AsyncWith):
            yield from _at_first(node.body)
            return
        if isinstance(node, ast.If):
            yield from _around(node.test, f"{_STEP} and (", ")")
            return
        if isinstance(node, ast.For | ast.AsyncFor):
            yield from _around(node.iter, f"({_STEP}, ", ")[1]")
            return
        if isinstance(node, ast.Match):
            yield from _around(node.subject, f"({_STEP}, ", ")[1]")
            return
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield Insertion(node.lineno - 1, node.col_offset, f"{_STEP}; ")
            return


def _around(node: ast.expr, before: str, after: str) -> Iterator[Insertion]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    yield Insertion(node.lineno - 1, node.col_offset, before)
    yield Insertion(node.end_lineno - 1, node.end_col_offset, after)
