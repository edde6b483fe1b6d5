"""Strews the things of a task's scene over its places, the same for each task id."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from agentgym_envs.alfworld.house import House, Place, Thing, Wording, by_name
from agentgym_envs.alfworld.rules import Rules, Scene, rules
from agentgym_envs.alfworld.tasks import Task

_GOALS = {
    "Pick": ("put a {thing} in {target}", "put some {thing} on {target}"),
    "Look": ("look at {thing} under the {target}", "examine the {thing} with the {target}"),
    "Clean": ("put a clean {thing} in {target}", "clean some {thing} and put it in {target}"),
    "Heat": ("put a hot {thing} in {target}", "heat some {thing} and put it in {target}"),
    "Cool": ("put a cool {thing} in {target}", "cool some {thing} and put it in {target}"),
    "Pick2": ("put two {thing} in {target}", "find two {thing} and put them in {target}"),
}
"""The two wordings of each goal in the original."""

_SECOND, _THIRD = 0.4, 0.15
"""Shares of scenes with a second and a third thing of a kind."""

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
        Place(kind, count, is_openable=_has_door(kind, count, scene, table))
        for kind, total in sorted(scene.places.items())
        for count in range(total, 0, -1)
    ]
    # What must be there is placed first: fixtures, then what the task is about.
    for kind in sorted(
        scene.things, key=lambda kind: (kind not in table.fixtures, kind != task.thing)
    ):
        things: list[Thing] = []
        for spot in _spots(kind, task, places, table, draw):
            things.append(Thing(kind, number=0))
            spot.contents.append(things[-1])
        for behind, thing in enumerate(things):
            thing.number = len(things) - behind  # where there was no room, no gap is left
    for place in places:
        place.contents.sort(key=by_name)
    return House(places, task, table, wording), goal.format(thing=task.thing, target=task.target)


def _has_door(kind: str, number: int, scene: Scene, table: Rules) -> bool:
    return kind in table.openable and f"{kind} {number}" not in scene.doorless


def _spots(
    kind: str, task: Task, places: Sequence[Place], table: Rules, draw: Draw
) -> Iterator[Place]:
    """Yield the place of each thing of a kind, which is never the one that the task asks for."""
    standing = table.scenes[task.scene].standing.get(kind)
    if standing is not None:
        named = {place.name: place for place in places}
        yield from (named[name] for name in standing)
        return
    spots = [place for place in places if _may_hold(place, kind, task, places, table)]
    for _ in range(_count(kind, task, table, draw)):
        spot = _choose(spots, table, draw)
        if spot is not None:
            yield spot


def _may_hold(place: Place, kind: str, task: Task, places: Sequence[Place], table: Rules) -> bool:
    if kind in table.fixtures:
        present = {other.kind for other in places}
        return place.kind == next((k for k in table.fixtures[kind] if k in present), None)
    return kind in table.holds[place.kind] and (kind, place.kind) != (task.thing, task.target)


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
