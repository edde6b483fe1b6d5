"""Moves on the forms of a site, for damage and for other ways to do a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentgym_envs.core import ExpertMove
from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging.verdicts import Damage, Row, some
from worlds.tasks.drawing import TEMPLATES
from worlds.tasks.screen import Screen
from worlds.tasks.template import Case, Solution


def first(site: str, sql: str) -> str:
    """Return the first value of a query on a site that nobody has touched."""
    return str(WORLD.value(site, sql))


def form(url: str, button: str, fields: Mapping[str, str] | None = None) -> Damage:
    """Open a page, fill in fields of it and press a button.

    Args:
        url: of the page.
        button: how its name begins.
        fields: what is typed or chosen, by label; a check box or radio button is clicked.
    """

    def moves(screen: Screen) -> Iterator[ExpertMove]:
        yield screen.go(url)
        yield from fill(screen, fields or {})
        yield screen.click_node(screen.starting("button", button))

    return moves


def fill(screen: Screen, fields: Mapping[str, str]) -> Iterator[ExpertMove]:
    """Fill in a form's fields."""
    for label, text in fields.items():
        if screen.has("combobox", label):
            yield screen.choose(label, text)
        elif screen.has("checkbox", label):
            yield screen.click("checkbox", label)
        elif screen.has("radio", label):
            yield screen.click("radio", label)
        else:
            yield screen.fill("textbox", label, text)


def press(button: str) -> Damage:
    """Press a button, whose name begins so, on the open page."""
    return lambda screen: iter([screen.click_node(screen.starting("button", button))])


def one_after_the_other(*damages: Damage) -> Damage:
    """Do several things."""

    def moves(screen: Screen) -> Iterator[ExpertMove]:
        for damage in damages:
            yield from damage(screen)

    return moves


def in_turn(*steps: Damage) -> Solution:
    """Do these things one after the other, and stop without an answer."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        yield from one_after_the_other(*steps)(screen)
        yield screen.stop()

    return solution


def as_if(template: int, *, notes: Mapping[str, Any] | None = None, **values: str) -> Solution:
    """Return the expert's way as if the task had other values."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        other = Case({**case.values, **values}, notes={**case.notes, **(notes or {})})
        return TEMPLATES[template].solve(other, screen)

    return solution


def values_of(template: int) -> dict[str, str]:
    """Return the slots and the expert's notes of the first task of a template."""
    task = some(template)
    return {**(task.instantiation_dict or {}), **(task.notes or {})}


def changed_rows(template: int, table: str, kind: str = "changed") -> list[dict[str, Any]]:
    """Return the rows of a table that the first task of a template asks to change."""
    (tables,) = some(template).eval["state_change"][0].values()
    rows: list[dict[str, Any]] = tables[table][kind]
    return rows


def rows_of(table: Mapping[str, tuple[int, Callable[[], Solution]]]) -> list[Row]:
    """List solutions that look into the databases when they are played, not when collected."""
    return [(template, name, _made_by(make)) for name, (template, make) in table.items()]


def _made_by(make: Callable[[], Solution]) -> Solution:
    return lambda case, screen: make()(case, screen)
