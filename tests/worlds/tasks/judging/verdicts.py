"""Plays freshly drawn tasks in other ways and with damage done, and judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.content import open_content
from agentgym_envs.webarena.deployments import EmbeddedDeployment, fill_values
from agentgym_envs.webarena.evaluators import build_evaluators, multiply
from agentgym_envs.webarena.evaluators.verdict import Verdict
from agentgym_envs.webarena.tasks.files import WebTask
from tests.worlds.tasks.arriving import TASKS
from worlds.tasks.drawing import STRIDE, TEMPLATES
from worlds.tasks.playing import play_solution
from worlds.tasks.screen import Screen
from worlds.tasks.template import Case, Solution

Damage = Callable[[Screen], Iterator[ExpertMove]]
"""Does something that no task asks for, through the forms of a site. It begins on any page."""

Row = tuple[int, str, Solution]
"""A template, the name of a way to play it, and the way."""


@cache
def some(template: int, instance: int = 0) -> WebTask:
    """Return a task. Instance 0 has the short wording, instance 1 the longer one."""
    return TASKS.task(template * STRIDE + instance)


def verdict(task: WebTask, solution: Solution | None = None) -> Verdict:
    """Play a task by its expert or in another way, and judge it."""
    solution = solution or TEMPLATES[task.intent_template_id].solve
    with play_solution(task, open_content(), solution) as ending:
        place = EmbeddedDeployment("text", open_content())
        evaluators = build_evaluators(fill_values(place, task.eval))
        return multiply(evaluate(ending) for evaluate in evaluators)


def after(damage: Damage, template: int) -> Solution:
    """Return the expert's way with damage done before the last move, ending on the same page."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        for move in TEMPLATES[template].solve(case, screen):
            if move.action.startswith("stop"):
                url = screen.url
                yield from damage(screen)
                yield ExpertMove(f"goto [{url}]", "Back to where the task ends.")
            yield move

    return solution


def answering(answer: str, template: int) -> Solution:
    """Return the expert's way with another answer."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        for move in TEMPLATES[template].solve(case, screen):
            yield screen.stop(answer) if move.action.startswith("stop") else move

    return solution


def changing(site: str) -> list[int]:
    """List the templates that change something and begin on a site."""
    return [
        number
        for number, template in TEMPLATES.items()
        if template.sites[0] == site and some(number).eval["state_change"] != [{}]
    ]


def reading(site: str) -> list[int]:
    """List the templates that change nothing and begin on a site."""
    return [
        number
        for number, template in TEMPLATES.items()
        if template.sites[0] == site and some(number).eval["state_change"] == [{}]
    ]
