"""Moves on the forms of a site, of which tests make other ways to do a task, and damage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution
from tests.worlds.tasks.judging.verdicts import Damage, some


def form(url: str, fields: Mapping[str, str], button: str) -> Damage:
    """Fill in a form and send it; a check box that is named is turned over."""

    def moves(screen: Screen) -> Iterator[ExpertMove]:
        yield screen.go(url)
        for label, value in fields.items():
            if screen.has("combobox", label):
                yield screen.choose(label, value)
            elif screen.has("checkbox", label):
                yield screen.click("checkbox", label)
            else:
                yield screen.fill("textbox", label, value)
        yield screen.click("button", button)

    return moves


def pressed(url: str, button: str) -> Damage:
    """Press a button on a page."""
    return form(url, {}, button)


def in_turn(*steps: Damage) -> Solution:
    """Do these things one after the other, and stop without an answer."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        for step in steps:
            yield from step(screen)
        yield screen.stop()

    return solution


def as_if(template: int, *, notes: Mapping[str, Any] | None = None, **values: str) -> Solution:
    """Return the expert's way where it reads other values in the task than there are."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        other = Case({**case.values, **values}, {**case.notes, **(notes or {})})
        return EXPERTS[template](other, screen)

    return solution


def values_of(template: int) -> dict[str, str]:
    """Return what fills the slots of the first task of a template, and what its expert knows."""
    task = some(template)
    return {**(task.instantiation_dict or {}), **(task.notes or {})}


def changed_rows(template: int, table: str, kind: str = "changed") -> list[dict[str, Any]]:
    """Return the rows of a table that the first task of a template asks to change."""
    (tables,) = some(template).eval["state_change"][0].values()
    rows: list[dict[str, Any]] = tables[table][kind]
    return rows
