"""Plays tasks nearly right: with one thing mistaken, or left off before the last step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.names import fill_placeholders
from agentgym_envs.webarena.tasks.files import WebTask
from tests.worlds.tasks.arriving import cases
from tests.worlds.tasks.judging.verdicts import Row, some, verdict
from worlds.tasks.drawing import TEMPLATES
from worlds.tasks.screen import Screen
from worlds.tasks.template import Case, Solution


def mistaken(template: int, *slots: str) -> Solution:
    """Return the expert's way with some slots filled as in another task of the template."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        others = [
            other
            for other in cases(template)
            if all(other.values[slot] != case.values[slot] for slot in slots)
        ]
        mine = _touched(some(template).eval)
        # Two products may be of one order: rather one that leads elsewhere.
        other = min(others, key=lambda other: _touched(other.evaluation) == mine)
        values = dict(case.values) | {slot: other.values[slot] for slot in slots}
        # What the expert knows of a category goes with it.
        notes = other.notes if "category" in slots else case.notes
        yield from TEMPLATES[template].solve(Case(values, notes=notes), screen)

    return solution


def _touched(evaluation: Mapping[str, Any]) -> list[Any]:
    """List the rows that a task changes or removes, as far as they have a number."""
    return [
        (table, kind, row.get("id"))
        for tables in evaluation["state_change"][0].values()
        for table, kinds in tables.items()
        for kind, rows in kinds.items()
        for row in rows
    ]


def mistakes(templates: Iterable[int], pairs: Mapping[int, tuple[str, ...]]) -> list[Row]:
    """List the ways with one thing mistaken.

    Args:
        templates: their numbers.
        pairs: by template, slots that only make sense together.
    """
    rows: list[Row] = []
    for template in templates:
        pair = pairs.get(template, ())
        single = [(slot,) for slot in some(template).instantiation_dict or {} if slot not in pair]
        for slots in [*single, pair] if pair else single:
            rows.append((template, " and ".join(slots), mistaken(template, *slots)))
    return rows


def unfinished(template: int) -> Solution:
    """Return the expert's way without the last button of a form, or else the last Enter."""
    sent: list[int] = []

    def watching(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        for move in TEMPLATES[template].solve(case, screen):
            # A filter's button changes nothing; Enter mostly searches.
            buttons = [button for button in screen.all("button") if button.name != "Apply"]
            is_button = move.action in [f"click [{button.element}]" for button in buttons]
            is_enter = move.action.startswith("type") and move.action.endswith(" [1]")
            sent.append(2 if is_button else int(is_enter))
            yield move

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        last = len(sent) - 1 - sent[::-1].index(max(sent))
        yield from islice(TEMPLATES[template].solve(case, screen), last)
        yield screen.stop()

    assert verdict(some(template), watching).score == 1.0
    return solution


def another_tasks(template: int) -> Solution:
    """Return the way to do that other task of a template which shares the most words with it."""
    mine = (some(template).instantiation_dict or {}).items()
    others = [some(template, instance) for instance in range(1, 12)]
    nearest = max(others, key=lambda task: len(mine & (task.instantiation_dict or {}).items()))
    return lambda case, screen: _done(nearest, screen)


def with_another(template: int) -> Solution:
    """Return the expert's way with another task of the template done besides."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        yield from _without_stop(TEMPLATES[template].solve(case, screen))
        if some(template).storage_state is None:
            yield screen.click("button", "Sign out")
        yield from _done(some(template, 1), screen)

    return solution


def _done(task: WebTask, screen: Screen) -> Iterator[ExpertMove]:
    """Play the expert of a task, from where that one begins."""
    yield screen.go(fill_placeholders(task.start_url))
    case = Case(task.instantiation_dict or {}, notes=task.notes or {})
    yield from _without_stop(TEMPLATES[task.intent_template_id].solve(case, screen))


def _without_stop(moves: Iterator[ExpertMove]) -> Iterator[ExpertMove]:
    return (move for move in moves if not move.action.startswith("stop"))
