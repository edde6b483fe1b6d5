"""Draws the instances of every template on a world."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from agentgym_envs.webarena.tasks.files import WebTask
from worlds.dice import Dice
from worlds.tasks import across, gitlab, reddit, shopping, shopping_admin
from worlds.tasks import map as map_tasks
from worlds.tasks.template import Case, Template, World

INSTANCES = 50
"""Instances of each template."""

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
    """Draw a template's tasks, fewer than `INSTANCES` where the world holds no more.

    Each has an intent of its own, and as long as there are others a goal of its own: what decides
    whether it is done. Where goals run out, all are drawn about equally often.
    """
    intents: set[str] = set()
    goals: Counter[str] = Counter()
    repeats = missed = 0  # how often a goal may have been drawn before; throws since the last case
    for _ in range(_THROWS * INSTANCES):
        if len(intents) == INSTANCES:
            return
        missed += 1
        if missed > _PATIENCE:
            repeats, missed = repeats + 1, 0
        case = template.draw(world, dice)
        if case is None or (intent := template.intent.format_map(case.values)) in intents:
            continue
        goal = json.dumps(case.evaluation, sort_keys=True)
        if goals[goal] > repeats and not template.is_impossible:
            continue
        goals[goal] += 1
        missed = 0
        yield _task(template, case, intent, template.number * STRIDE + len(intents))
        intents.add(intent)


def _task(template: Template, case: Case, intent: str, number: int) -> WebTask:

    signed_in = f"./.auth/{'.'.join(sorted(template.sites))}_state.json"
    return WebTask(
        sites=template.sites,
        task_id=number,
        start_url=template.start or f"__{template.sites[0].upper()}__",
        intent=intent,
        eval=case.evaluation,
        require_login=template.signed_in,
        storage_state=signed_in if template.signed_in else None,
        intent_template=_SLOT.sub(r"{{\1}}", template.intent),
        instantiation_dict=dict(case.values),
        require_reset="db_state" in case.evaluation["eval_types"],
        intent_template_id=template.number,
        split=template.split,
        notes=json.loads(json.dumps(case.notes)),  # as a reader of the file has them
    )
