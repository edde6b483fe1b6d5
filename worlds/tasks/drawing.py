"""Draws the instances of every template on a world."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agentgym_envs.webarena.evaluators.state_change import record_change
from agentgym_envs.webarena.tasks.files import WebTask
from worlds.dice import Dice
from worlds.tasks import across, gitlab, reddit, shopping, shopping_admin
from worlds.tasks import map as map_tasks
from worlds.tasks.playing import play_solution
from worlds.tasks.screen import ElementNotFound
from worlds.tasks.starts import start_of
from worlds.tasks.template import Case, Template, World

STRIDE = 100
"""A task's number is its template's number times this, plus the instance's."""

_THROWS = 200  # for each instance, on average
_PATIENCE = 60  # throws without a new goal, before one may be repeated once more
_SLOT = re.compile(r"\{(\w+)\}")

TEMPLATES: dict[int, Template] = {
    template.number: template
    for template in sorted(
        (
            template
            for package in (shopping, shopping_admin, map_tasks, reddit, gitlab, across)
            for template in package.TEMPLATES
        ),
        key=lambda template: template.number,
    )
}
"""Every template by its number, ascending."""


def draw_tasks(template: Template, world: World, dice: Dice) -> Iterator[WebTask]:
    """Draw a template's tasks, fewer than its `instances` where the world holds no more.

    Each has an intent of its own, and as long as there are others a goal of its own: what decides
    whether it is done. Where goals run out, all are drawn about equally often.

    Raises:
        ValueError: the solution changes something else than the draw knows it must.
    """
    intents: set[str] = set()
    goals: Counter[str] = Counter()
    repeats = missed = 0  # how often a goal may have been drawn before; throws since the last case
    for _ in range(_THROWS * template.instances):
        if len(intents) == template.instances:
            return
        missed += 1
        if missed > _PATIENCE:
            repeats, missed = repeats + 1, 0
        case = template.draw(world, dice)
        if case is None:
            continue
        task = _task(template, case, len(intents), world)
        if task.intent in intents:
            continue
        try:
            evaluation = _evaluation(template, case, task, world)
        except ElementNotFound as error:
            print(f"{task.intent!r}: the solution does not find its way ({error})")
            continue
        goal = json.dumps(evaluation, sort_keys=True)
        if goals[goal] > repeats and not template.is_impossible:
            continue
        goals[goal] += 1
        missed = 0
        yield replace(task, eval=evaluation)
        intents.add(task.intent)


def _evaluation(template: Template, case: Case, task: WebTask, world: World) -> dict[str, Any]:
    """Play the solution of a goal with changes, and record its changes."""
    if not case.goal.changes:
        return case.goal.evaluation([{}])
    with play_solution(task, world.content, template.solve) as ending:
        if ending.state is None:
            raise ValueError("changes are recorded on the embedded sites alone")
        way = record_change(ending.state, loosely=case.goal.loosely)
    if not way or (wrong := case.goal.contradictions(way)):
        raise ValueError(f"{task.intent!r}: {wrong if way else 'the solution changes nothing'}")
    return case.goal.evaluation([way, *template.other_ways(case, way)])


def _task(template: Template, case: Case, instance: int, world: World) -> WebTask:
    """Return a task whose evaluation is still empty."""
    signed_in = f"./.auth/{'.'.join(sorted(template.sites))}_state.json"
    intent = template.intents[instance % len(template.intents)]
    return WebTask(
        sites=template.sites,
        task_id=template.number * STRIDE + instance,
        start_url=start_of(template, case, instance, world),
        intent=intent.format_map(case.values),
        eval={},
        require_login=template.signed_in,
        storage_state=signed_in if template.signed_in else None,
        intent_template=_SLOT.sub(r"{{\1}}", intent),
        instantiation_dict=dict(case.values),
        require_reset=case.goal.changes,
        intent_template_id=template.number,
        split=template.split,
        notes=json.loads(json.dumps(case.notes)),  # as a reader of the file has them
    )
