"""Plays tasks nearly right: with one thing mistaken, or left off before the last step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution
from tests.worlds.tasks.arriving import cases
from tests.worlds.tasks.judging.verdicts import some, verdict


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
        yield from EXPERTS[template](Case(values, notes), screen)

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


def unfinished(template: int) -> Solution:
    """Return the expert's way without the last button that it presses."""
    moves: list[bool] = []

    def watching(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        for move in EXPERTS[template](case, screen):
            buttons = [f"click [{button.element}]" for button in screen.all("button")]
            moves.append(move.action in buttons)
            yield move

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        last = len(moves) - 1 - moves[::-1].index(True)
        yield from islice(EXPERTS[template](case, screen), last)
        yield screen.stop()

    verdict(some(template), watching)
    return solution


def slots(template: int, *pairs: tuple[str, ...]) -> list[tuple[str, ...]]:
    """List what can be mistaken in a template.

    Args:
        template: its number.
        pairs: slots that only make sense together.
    """
    paired = {slot for pair in pairs for slot in pair}
    values = some(template).instantiation_dict or {}
    return [(slot,) for slot in values if slot not in paired] + list(pairs)
