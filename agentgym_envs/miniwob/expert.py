"""Solves the few tasks that a simple rule over goal and tree can solve.

An expert reads what a policy reads, and begins at the task's first page.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.core import ExpertMove

Current = Callable[[], Page]
Expert = Callable[[str, Current], Iterator[ExpertMove]]

_QUOTED = re.compile(r'"(.*?)"(?=[ .,]|$)')
_SUBMIT = ("Submit", "Login")
_NOTHING = "nothing"
_SIGNS = {"+": operator.add, "-": operator.sub, "x": operator.mul}


def _all(page: Page, role: str) -> list[Node]:
    return [node for node in page.nodes if node.role == role]


def _click(current: Current, role: str, name: str) -> Iterator[ExpertMove]:
    """Click the first element of this role and name, if there is one."""
    for node in _all(current(), role):
        if node.name == name:
            yield ExpertMove(f"click [{node.element}]", f"The goal asks for the {role} {name!r}.")
            return


def _submit(current: Current) -> Iterator[ExpertMove]:
    for node in _all(current(), "button"):
        if node.name in _SUBMIT:
            yield ExpertMove(f"click [{node.element}]", "All is filled in; I submit it.")


def _type(current: Current, texts: list[str]) -> Iterator[ExpertMove]:
    """Type one text into each text field that is shown, in order."""
    for number, text in enumerate(texts):
        field = _all(current(), "textbox")[number]
        yield ExpertMove(f"type [{field.element}] [{text}] [0]", f"{text!r} belongs here.")


def _clicks_the_quoted(role: str) -> Expert:
    def solve(goal: str, current: Current) -> Iterator[ExpertMove]:
        yield from _click(current, role, _QUOTED.findall(goal)[0])

    return solve


def _clicks(role: str, name: str) -> Expert:
    def solve(_: str, current: Current) -> Iterator[ExpertMove]:
        yield from _click(current, role, name)

    return solve


def _clicks_the_named(role: str, pattern: str) -> Expert:
    def solve(goal: str, current: Current) -> Iterator[ExpertMove]:
        for name in re.findall(pattern, goal):
            yield from _click(current, role, name)

    return solve


def _types_the_quoted(goal: str, current: Current) -> Iterator[ExpertMove]:
    texts = _QUOTED.findall(goal)
    fields = len(_all(current(), "textbox"))
    yield from _type(current, texts if len(texts) == fields else texts * fields)
    yield from _submit(current)


def _chooses(role: str) -> Expert:
    def solve(goal: str, current: Current) -> Iterator[ExpertMove]:
        match = re.fullmatch(r"Select (.*) and click Submit\.", goal)
        names = [] if match is None or match[1] == _NOTHING else match[1].split(", ")
        for name in names:
            yield from _click(current, role, name)
        yield from _submit(current)

    return solve


def _selects_in_the_list(goal: str, current: Current) -> Iterator[ExpertMove]:
    match = re.fullmatch(r"Select (.*) from the list and click Submit\.", goal)
    for node in _all(current(), "combobox") if match else []:
        assert match is not None
        yield ExpertMove(f"select [{node.element}] [{match[1]}]", f"The list has {match[1]!r}.")
    yield from _submit(current)


def _reads_the_table(goal: str, current: Current) -> Iterator[ExpertMove]:
    rows = [node.name.split(" | ") for node in _all(current(), "row")]
    cells = dict(row for row in rows if len(row) == 2)
    match = re.search(r"the value of (.*) into", goal)
    if match is not None and match[1] in cells:
        yield from _type(current, [cells[match[1]]])
    yield from _submit(current)


def _calculates(_: str, current: Current) -> Iterator[ExpertMove]:
    for node in _all(current(), "StaticText"):
        match = re.fullmatch(r"(\d+) ([-+x]) (\d+) =", node.name)
        if match is not None:
            value = _SIGNS[match[2]](int(match[1]), int(match[3]))
            yield from _type(current, [str(value)])
            yield from _submit(current)
            return


def _focuses(goal: str, current: Current) -> Iterator[ExpertMove]:
    match = re.search(r"(\d+)(?:st|nd|rd|th)", goal)
    field = _all(current(), "textbox")[0 if match is None else int(match[1]) - 1]
    yield ExpertMove(f"click [{field.element}]", "A click brings the focus here.")


_BUTTONS = r"\b(ONE|TWO)\b"

EXPERTS: Mapping[str, Expert] = {
    "choose-list": _selects_in_the_list,
    "click-button": _clicks_the_quoted("button"),
    "click-button-sequence": _clicks_the_named("button", _BUTTONS),
    "click-checkboxes": _chooses("checkbox"),
    "click-dialog": _clicks("button", "Close"),
    "click-link": _clicks_the_quoted("link"),
    "click-option": _chooses("radio"),
    "click-tab": _clicks_the_named("tab", r"Tab #\d+"),
    "click-test": _clicks("button", "Click Me!"),
    "click-test-2": _clicks_the_named("button", _BUTTONS),
    "enter-password": _types_the_quoted,
    "enter-text": _types_the_quoted,
    "focus-text-2": _focuses,
    "login-user": _types_the_quoted,
    "read-table": _reads_the_table,
    "simple-arithmetic": _calculates,
}
"""The experts, by task."""
