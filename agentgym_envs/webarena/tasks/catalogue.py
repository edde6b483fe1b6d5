"""Lists all embedded tasks: the templates of every site, and their instances, drawn when asked for.

An instance depends on the sites' content, the template and `SEED` alone, so a number means the same
task everywhere.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from agentgym_envs.webarena.sites.state import SEED
from agentgym_envs.webarena.tasks import across, gitlab, reddit, shopping, shopping_admin
from agentgym_envs.webarena.tasks import map as map_tasks
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.template import Case, Template, World

INSTANCES = 50
"""Instances of each template."""

STRIDE = 100
"""A task's number is its template's number times this, plus the instance's."""

_THROWS = 200  # for each instance, on average
_PATIENCE = 60  # throws without a new goal, before one may be repeated once more
_SLOT = re.compile(r"\{(\w+)\}")
_DRAWING = threading.RLock()


@cache
def templates() -> dict[int, Template]:
    """Return every template by its number, ascending.

    Raises:
        RuntimeError: two have one number.
    """
    by_number: dict[int, Template] = {}
    for package in (shopping, shopping_admin, map_tasks, reddit, gitlab, across):
        for template in package.TEMPLATES:
            other = by_number.setdefault(template.number, template)
            if other is not template:
                raise RuntimeError(
                    f"{type(template).__name__} and {type(other).__name__} both have the number "
                    f"{template.number}"
                )
    return dict(sorted(by_number.items()))


def split_number(number: int) -> tuple[Template, int]:
    """Return the template and the instance of a task's number.

    Raises:
        ValueError: there is no such task.
    """
    template, instance = templates().get(number // STRIDE), number % STRIDE
    if template is None or instance >= INSTANCES:
        raise ValueError(f"there is no task {number}")
    return template, instance


def case_of(number: int) -> Case:
    """Return a task's instance, drawn on first use."""
    template, instance = split_number(number)
    return _deck(template.number).case(instance)


def task_of(number: int) -> WebTask:
    """Return a task in WebArena's form."""
    template, _ = split_number(number)
    case = case_of(number)
    signed_in = f"./.auth/{'.'.join(sorted(template.sites))}_state.json"
    return WebTask(
        sites=template.sites,
        task_id=number,
        start_url=template.start or f"__{template.sites[0].upper()}__",
        intent=intent_of(template, case),
        eval=case.evaluation,
        require_login=template.signed_in,
        storage_state=signed_in if template.signed_in else None,
        intent_template=_SLOT.sub(r"{{\1}}", template.intent),
        instantiation_dict=dict(case.values),
        require_reset="db_state" in case.evaluation["eval_types"],
        intent_template_id=template.number,
    )


def intent_of(template: Template, case: Case) -> str:
    """Fill the slots of an intent."""
    return template.intent.format_map(case.values)


class _Deck:
    """The instances of one template, in the order in which they are drawn.

    Each has an intent of its own, and as long as there are others a goal of its own: what decides
    whether it is done. Where goals run out, all are drawn about equally often.
    """

    def __init__(self, template: Template, world: World) -> None:
        self._template = template
        self._draws = self._drawn(world)
        self._cases: list[Case] = []

    def case(self, instance: int) -> Case:
        """Return an instance, drawing as far as it needs."""
        with _DRAWING:
            while len(self._cases) <= instance:
                self._cases.append(next(self._draws))
            return self._cases[instance]

    def _drawn(self, world: World) -> Iterator[Case]:
        template = self._template
        rng = random.Random(f"{SEED} {template.number}")
        intents: set[str] = set()
        goals: Counter[str] = Counter()
        repeats = missed = (
            0  # how often a goal may have been drawn before; throws since the last case
        )
        most = _THROWS * INSTANCES
        for _ in range(most):
            missed += 1
            if missed > _PATIENCE:
                repeats, missed = repeats + 1, 0
            case = template.draw(world, rng)
            if case is None or intent_of(template, case) in intents:
                continue
            goal = json.dumps(case.evaluation, sort_keys=True)
            if goals[goal] > repeats and not template.is_impossible:
                continue
            goals[goal] += 1
            intents.add(intent_of(template, case))
            missed = 0
            yield case
        raise RuntimeError(
            f"{type(template).__name__} (template {template.number}) gave {len(intents)} distinct "
            f"intents in {most} draws, needed are {INSTANCES}"
        )


@cache
def _world() -> World:
    return World()


@cache
def _decks() -> dict[int, _Deck]:
    return {number: _Deck(template, _world()) for number, template in templates().items()}


def _deck(number: int) -> _Deck:
    with _DRAWING:
        return _decks()[number]


def numbers(split: str) -> Sequence[int]:
    """List the task numbers of a split, ascending; draws nothing."""
    return [
        number * STRIDE + instance
        for number, template in templates().items()
        if template.split == split
        for instance in range(INSTANCES)
    ]
