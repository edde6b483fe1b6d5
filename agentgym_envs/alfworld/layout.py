"""Strews the things of a task's scene over its places; a task id always gives the same house."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from agentgym_envs.alfworld.house import House, Place, Thing, Wording, by_name
from agentgym_envs.alfworld.rules import Rules, rules
from agentgym_envs.alfworld.tasks import Task

_GOALS = {
    "Pick": ("put a {thing} in {target}", "put some {thing} on {target}"),
    "Look": ("look at {thing} under the {target}", "examine the {thing} with the {target}"),
    "Clean": ("put a clean {thing} in {target}", "clean some {thing} and put it in {target}"),
    "Heat": ("put a hot {thing} in {target}", "heat some {thing} and put it in {target}"),
    "Cool": ("put a cool {thing} in {target}", "cool some {thing} and put it in {target}"),
    "Pick2": ("put two {thing} in {target}", "find two {thing} and put them in {target}"),
}
"""The original's wordings; a task has one of its two."""

_SECOND, _THIRD = 0.4, 0.15
"""How often a scene has a second and a third thing of a kind."""

Draw = Callable[[], float]


def build(number: int, task: Task, wording: Wording) -> tuple[House, str]:
    """Build the house of a task.

    Only `random()` of Python's generator is used, whose stream Python promises to keep.

    Returns:
        The house as it is at the start, and the goal.
    """
    table = rules()
    draw = random.Random(f"alfworld/{number}").random
    goal = _GOALS[task.subtask][int(draw() * 2)]
    scene = table.scenes[task.scene]
    places = [
        Place(kind, count, is_openable=kind in table.openable)
        for kind, total in sorted(scene.places.items())
        for count in range(total, 0, -1)
    ]
    # What must be there is placed first: fixtures, then what the task is about.
    for kind in sorted(
        scene.things, key=lambda kind: (kind not in table.fixtures, kind != task.thing)
    ):
        spots = list(_spots(kind, task, places, table))
        things: list[Thing] = []
        for _ in range(_count(kind, task, table, draw)):
            spot = _choose(spots, table, draw)
            if spot is not None:
                things.append(Thing(kind, number=0))
                spot.contents.append(things[-1])
        for behind, thing in enumerate(things):
            thing.number = len(things) - behind  # where there was no room, no gap is left
    for place in places:
        place.contents.sort(key=by_name)
    return House(places, task, table, wording), goal.format(thing=task.thing, target=task.target)


def _spots(kind: str, task: Task, places: Sequence[Place], table: Rules) -> Iterator[Place]:
    """Yield where things of a kind may lie at the start; never where the goal wants them."""
    if kind in table.fixtures:
        present = {place.kind for place in places}
        stands_on = next((name for name in table.fixtures[kind] if name in present), None)
        yield from (place for place in places if place.kind == stands_on)
        return
    for place in places:
        if kind in table.holds[place.kind] and (kind, place.kind) != (task.thing, task.target):
            yield place


def _count(kind: str, task: Task, table: Rules, draw: Draw) -> int:
    if kind in table.fixtures:
        return 1
    chance = draw()
    count = 1 + (chance < _SECOND) + (chance < _THIRD)
    return max(count, 2) if kind == task.thing and task.subtask == "Pick2" else count


def _choose(spots: Sequence[Place], table: Rules, draw: Draw) -> Place | None:
    """Draw a kind of place by its share, then a place of that kind with room in it."""
    free: dict[str, list[Place]] = {}
    for place in spots:
        if len(place.contents) < table.strewing[place.kind].most:
            free.setdefault(place.kind, []).append(place)
    if not free:
        return None
    rest = draw() * sum(table.strewing[kind].share for kind in free)
    for kind in free:
        rest -= table.strewing[kind].share
        if rest < 0:
            break
    return free[kind][int(draw() * len(free[kind]))]
