"""Plans the parts of every mission: walking up, clearing ways, unlocking, looking around."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass
from typing import Any

from agentgym_envs.babyai.describe import described
from agentgym_envs.babyai.mission import is_key_to
from agentgym_envs.babyai.planner import Goal, Macro, Outlook, Planner
from agentgym_envs.babyai.routes import THING_COST, Route
from agentgym_envs.babyai.sight import EMPTY, OPEN, UNKNOWN

_MAX_CHORES = 8
"""Bounds obstacles behind obstacles."""

_LOOKING = "I {0} to see more"

Plan = list[tuple[Macro, str]]
"""Text actions to come, each with its thought."""


@dataclass
class Chore:
    """Something in the way that must be dealt with before the goal: a locked door, or a thing."""

    thing: Any
    cell: int
    avoid: set[int]


class Errands:
    """Plans the means to a goal over the known map, and remembers which must come first.

    A plan is None where what is known gives none.
    """

    _planner: Planner

    def __init__(self) -> None:
        self._chores: list[Chore] = []

    # What is in the way -----------------------------------------------------------------------

    def _next_chore(self) -> Plan | None:
        while self._chores and self._is_finished(self._chores[-1]):
            self._chores.pop()
        if self._chores:
            plan = self._do_chore(self._chores[-1])
            if plan:
                return plan
            self._chores = []
        return None

    def _is_finished(self, chore: Chore) -> bool:
        if chore.thing.type == "door":
            return not chore.thing.is_locked
        where = (self._planner.carrying, self._planner.things.get(chore.cell))
        return all(thing is not chore.thing for thing in where)

    def _do_chore(self, chore: Chore) -> Plan | None:
        if chore.thing.type == "door":
            return self._unlock(chore)
        if self._planner.carrying is not None:
            why = f"The {described(chore.thing)} was in the way"
            if self._planner.carrying is not chore.thing:
                why = f"The {described(chore.thing)} is in the way, and {self._load()}"
            return self._put_down(chore.avoid, why)
        return self._approach({chore.cell: 0}, "pick up", "{0} is in the way", avoid=chore.avoid)

    def _clear(self, cell: int, avoid: set[int], why: str) -> Plan | None:
        if self._planner.map.codes[cell] == UNKNOWN:
            return self._walk(lambda _, outlook: cell in outlook.seen, f"{why}; {_LOOKING}")
        thing = self._planner.things[cell]
        known = any(chore.thing is thing for chore in self._chores)
        if known or len(self._chores) >= _MAX_CHORES:
            return None
        chore = Chore(thing, cell, avoid)
        self._chores.append(chore)
        plan = self._do_chore(chore)
        if not plan:
            self._chores.remove(chore)
        return plan

    def _unlock(self, chore: Chore) -> Plan | None:
        planner, door = self._planner, chore.thing
        if planner.opens(door):
            return self._approach({chore.cell: 0}, "open", "I have the key to {0}")
        keys = {cell: 0 for cell, thing in planner.things.items() if is_key_to(door, thing)}
        needs = f"The {described(door)} needs"
        return (
            self._approach(keys, "pick up", f"{needs} {{0}}", avoid=chore.avoid)
            or self._explore(f"{needs} a key of its colour, and I have seen none yet")
            or self._open_box(chore)
        )

    def _open_box(self, chore: Chore) -> Plan | None:
        """Plan to look for a key in a box."""
        planner = self._planner
        if planner.carrying is not None and planner.carrying.type == "box":
            return self._put_down(chore.avoid, "My box may hold the key")
        boxes = {cell: 0 for cell, thing in planner.things.items() if thing.type == "box"}
        return self._approach(boxes, "open", "{0} may hold the key", avoid=chore.avoid)

    def _first_to_clear(self, route: Route) -> int:
        """Return the first cell of a way that is not free, or the door of a key and its door."""
        first, *others = [*route.obstacles, route.target]
        things = self._planner.things
        chores = [chore.thing for chore in self._chores]
        for cell in others:
            door = things.get(cell)
            if door is None or door.type != "door" or not door.is_locked or door in chores:
                continue
            if is_key_to(door, things.get(first)):
                return cell
        return first

    def _load(self) -> str:
        return f"I carry the {described(self._planner.carrying)}"

    def _locked_out(self) -> list[int]:
        # Behind a door that is yet to be unlocked there is no help to be had.
        doors = [chore for chore in self._chores if chore.thing.type == "door"]
        return [chore.cell for chore in doors if not self._planner.opens(chore.thing)]

    # Ways -------------------------------------------------------------------------------------

    def _approach(
        self, targets: Mapping[int, int], verb: str, why: str, *, avoid: Collection[int] = ()
    ) -> Plan | None:
        planner = self._planner
        route = planner.route(targets, self._locked_out())
        if route is None:
            return None
        avoid = {*avoid, *route.cells}
        reason = why.format(f"the {described(planner.things[route.target])}")
        if route.obstacles:
            return self._clear(self._first_to_clear(route), avoid, reason)
        if verb == "pick up" and planner.carrying is not None:
            if route.keyed:
                return self._approach({route.keyed[0]: 0}, "open", "{0} is on my way")
            return self._put_down(avoid, f"I need free hands, and {self._load()}")
        cells = frozenset(cell for cell, cost in targets.items() if cost < THING_COST)
        return self._finish(verb, cells, reason)

    def _finish(self, verb: str, cells: frozenset[int], why: str) -> Plan | None:
        planner = self._planner
        target = -1

        def is_near(pose: int, outlook: Outlook) -> bool:
            nonlocal target
            front = planner.map.facing(pose)
            near = [cell for cell in outlook.facing if cell in cells]
            if verb == "go to":
                near = [cell for cell in near if cell != front]
            if verb == "open":  # not what the plan itself opens on the way
                near = [cell for cell in near if planner.map.codes[cell] != OPEN]
            if near:
                target = front if front in near else near[0]
            return bool(near)

        plan = self._walk(is_near, f"{why}; to get there I {{0}}")
        if plan is None:
            return None
        return [*plan, (Macro(verb, planner.things[target]), f"{why}; it is in view.")]

    def _walk(self, goal: Goal, thought: str) -> Plan | None:
        """Plan the fewest turns to a goal, where {0} in the thought is each action."""
        path = self._planner.fewest_turns(goal)
        return None if path is None else _explained(path, thought)

    def _put_down(self, avoid: Collection[int], why: str) -> Plan | None:
        planner = self._planner
        codes = planner.map.codes
        tests: tuple[Callable[[int], bool], ...] = (
            lambda cell: cell not in avoid and planner.is_harmless(cell),
            lambda cell: cell not in avoid and codes[cell] == EMPTY,
            lambda cell: codes[cell] == EMPTY,
        )
        return next(filter(None, (self._face_and_drop(test, why) for test in tests)), None)

    def _face_and_drop(self, is_place: Callable[[int], bool], why: str) -> Plan | None:
        planner = self._planner

        def faces_place(pose: int, _: Outlook) -> bool:
            front = planner.map.facing(pose)
            return planner.map.codes[front] == EMPTY and is_place(front)

        plan = self._walk(faces_place, f"{why}; to put it down I {{0}} first")
        return None if plan is None else [*plan, (Macro("drop"), f"{why}, so I put it down.")]

    # Looking ----------------------------------------------------------------------------------

    def _explore(self, why: str, nearby: Set[int] = frozenset()) -> Plan | None:
        """Plan to see more of the level.

        Args:
            why: what is looked for.
            nearby: the cells to be seen first, without opening a door.
        """
        planner = self._planner
        unknown = planner.map.frontier()
        if not unknown:
            return None
        plan = self._open_what_is_locked(why)
        if plan:
            return plan
        doors = frozenset(planner.things)
        for cells, kept_shut in [(nearby, doors), *((unknown, d) for d in self._doors_to_leave())]:
            path = planner.most_to_see(cells, kept_shut)
            if path is not None:
                return _explained(path, f"{why}; {_LOOKING}")
        # What is yet unseen lies behind things or locked doors.
        banned = self._locked_out()
        while (route := planner.route(dict.fromkeys(unknown, 0), banned)) and route.obstacles:
            plan = self._clear(route.obstacles[0], set(route.cells), why)
            if plan:
                return plan
            banned.append(route.obstacles[0])
        return None

    def _open_what_is_locked(self, why: str) -> Plan | None:
        # A locked door whose key was seen comes first: what is looked for is often behind it.
        planner = self._planner
        things = planner.things.items()
        chores = [chore.thing for chore in self._chores]
        keys = [planner.carrying, *planner.things.values()]
        doors = {
            cell: 0
            for cell, door in things
            if door.type == "door" and door.is_locked and door not in chores
            if any(is_key_to(door, key) for key in keys)
        }
        route = planner.route(doors, self._locked_out())
        if route is None:
            return None
        return self._clear(self._first_to_clear(route), set(route.cells), why)

    def _doors_to_leave(self) -> list[frozenset[int]]:
        """List which doors exploring leaves shut, and which where that shows nothing new."""
        return [self._planner.kept_shut]


def _explained(path: list[Macro], thought: str) -> Plan:
    return [(macro, thought.format(_in_words(macro)) + ".") for macro in path]


def _in_words(macro: Macro) -> str:
    verb = macro.verb.replace("toggle and", "open and", 1)
    return verb if macro.thing is None else f"{verb} the {described(macro.thing)}"
