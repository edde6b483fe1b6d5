"""Solves every level through text actions, with few turns.

The expert reads the simulator's whole state, plans one subgoal at a time and checks before each
action that the world is as planned, so it starts from any state. It stops where it has no plan, and
after `MAX_MOVES` actions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from minigrid.envs.babyai.core.verifier import GoToInstr, OpenInstr, PickupInstr, PutNextInstr

from agentgym_envs.babyai.describe import described
from agentgym_envs.babyai.mission import is_key_to, pending_clauses
from agentgym_envs.babyai.planner import (
    LOCKED_COST,
    THING_COST,
    Goal,
    Macro,
    Outlook,
    Planner,
    pose_of,
)
from agentgym_envs.babyai.sight import CLOSED, EMPTY, OPEN, WALL, GridMap
from agentgym_envs.core import ExpertMove

MAX_MOVES = 1000
"""Bounds an expert's episode; no level's plan comes near it."""

_MAX_CHORES = 8
"""Bounds obstacles behind obstacles."""

Plan = list[tuple[Macro, str]]
"""Text actions to come, each with its thought."""


@dataclass
class Chore:
    """Something in the way that must be dealt with before the goal: a locked door, or a thing."""

    thing: Any
    cell: int
    avoid: set[int]


class PlannedGame(Protocol):
    """What the expert needs of an episode: the level, the possible actions and things' names."""

    @property
    def level(self) -> Any:
        """The minigrid level."""

    @property
    def actions(self) -> Collection[str]:
        """The plain actions that are possible now."""

    def name_of(self, thing: Any) -> str:
        """Return what actions call one of minigrid's objects."""


class Expert:
    """Plans for one episode.

    Args:
        game: the episode.
        is_over: whether the episode has ended.
    """

    def __init__(self, game: PlannedGame, is_over: Callable[[], bool]) -> None:
        self._game = game
        self._is_over = is_over
        self._focus: Any = None
        self._chores: list[Chore] = []

    def moves(self) -> Iterator[ExpertMove]:
        """Yield moves until the episode ends; step the environment between them."""
        plan: Plan = []
        for _ in range(MAX_MOVES):
            if self._is_over():
                return
            if not plan or self._text(plan[0][0]) not in self._game.actions:
                plan = self._plan()
            if not plan:
                return
            macro, thought = plan.pop(0)
            yield ExpertMove(self._text(macro), thought[0].upper() + thought[1:])
            if macro.pose != pose_of(self._game.level, self._planner.map):
                plan = []

    def _text(self, macro: Macro) -> str:
        if macro.thing is None:
            return macro.verb
        name = self._game.name_of(macro.thing)
        if macro.verb == "open" and f"open {name}" not in self._game.actions:
            return "toggle"
        return f"{macro.verb} {name}"

    # Subgoals ---------------------------------------------------------------------------------

    def _plan(self) -> Plan:
        self._planner = Planner(self._game.level, GridMap(self._game.level), unit_moves=False)
        return self._next_subgoal()

    def _next_subgoal(self) -> Plan:
        while self._chores and self._is_finished(self._chores[-1]):
            self._chores.pop()
        if self._chores:
            plan = self._do_chore(self._chores[-1])
            if plan:
                return plan
            self._chores = []
        pending = pending_clauses(self._game.level.instrs)
        if self._focus in pending:
            pending = [self._focus]
        plans = [(self._plan_for(instruction), instruction) for instruction in pending]
        lengths = [(len(plan), i) for i, (plan, _) in enumerate(plans) if plan]
        if not lengths:
            return []
        plan, self._focus = plans[min(lengths)[1]]
        return plan or []

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
                why = f"The {described(chore.thing)} is in the way; I free my hands"
            return self._put_down(chore.avoid, why)
        return self._approach({chore.cell: 0}, "pick up", "{0} is in the way", avoid=chore.avoid)

    def _plan_for(self, instruction: Any) -> Plan | None:
        if isinstance(instruction, GoToInstr):
            targets = self._cells_of(instruction.desc.obj_set)
            if not targets and self._planner.carrying is not None:
                return self._put_down(set(), "The goal is in my hand")
            return self._approach(targets, "go to", "The goal says to go to {0}")
        if isinstance(instruction, PickupInstr):
            targets = self._cells_of(instruction.desc.obj_set)
            if not targets and self._planner.carrying is not None:
                return self._put_down(set(), "I must pick this up anew")
            return self._approach(targets, "pick up", "The goal says to pick up {0}")
        if isinstance(instruction, OpenInstr):
            return self._open(instruction.desc.obj_set)
        if isinstance(instruction, PutNextInstr):
            return self._put_next(instruction)
        raise TypeError(f"unknown instruction {type(instruction).__name__}")

    def _open(self, doors: list[Any]) -> Plan | None:
        planner = self._planner
        shut = {
            cell: 0 if planner.opens(planner.things[cell]) else LOCKED_COST
            for cell in self._cells_of(doors)
            if planner.map.codes[cell] == CLOSED
        }
        if shut:
            return self._approach(shut, "open", "The goal says to open {0}")
        return self._close(doors)

    def _close(self, doors: list[Any]) -> Plan | None:
        return self._approach(
            self._cells_of(doors), "close", "{0} is open; I close it to open it again"
        )

    def _put_next(self, instruction: Any) -> Plan | None:
        planner = self._planner
        movers = instruction.desc_move.obj_set
        if not any(planner.carrying is mover for mover in movers):
            return self._approach(self._cells_of(movers), "pick up", "{0} is to be moved")
        fixed = self._cells_of(instruction.desc_fixed.obj_set)
        places = {}
        for cell in fixed:
            for step in planner.map.steps:
                place = cell + step
                if planner.map.codes[place] not in (WALL, CLOSED, OPEN) and place not in fixed:
                    places[place] = 0 if planner.map.codes[place] == EMPTY else THING_COST
        route = planner.route(places)
        if route is None:
            return None
        if route.obstacles:
            return self._clear(route.obstacles[0], {*route.cells, route.target})
        free = {place for place, cost in places.items() if cost == 0}
        neighbour = described(planner.things[min(fixed)])
        return self._face_and_drop(free.__contains__, f"It belongs next to the {neighbour}")

    # Means ------------------------------------------------------------------------------------

    def _approach(
        self, targets: Mapping[int, int], verb: str, why: str, *, avoid: Collection[int] = ()
    ) -> Plan | None:
        planner = self._planner
        # Behind a door that is yet to be unlocked there is no help to be had.
        doors = [chore for chore in self._chores if chore.thing.type == "door"]
        banned = [chore.cell for chore in doors if not planner.opens(chore.thing)]
        route = planner.route(targets, banned)
        if route is None:
            return None
        avoid = {*avoid, *route.cells}
        if route.obstacles:
            return self._clear(route.obstacles[0], avoid)
        if verb == "pick up" and planner.carrying is not None:
            if route.keyed:
                return self._approach({route.keyed[0]: 0}, "open", "{0} is on my way")
            return self._put_down(avoid, "I need free hands")
        reason = why.format(f"the {described(planner.things[route.target])}")
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

        plan = self._walk(is_near, why)
        if plan is None:
            return None
        return [*plan, (Macro(verb, planner.things[target]), f"{why}; it is in view.")]

    def _walk(self, goal: Goal, why: str) -> Plan | None:
        path = self._planner.fewest_turns(goal)
        return None if path is None else [(macro, _on_the_way(macro, why)) for macro in path]

    def _clear(self, cell: int, avoid: set[int]) -> Plan | None:
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
        things = planner.things.items()
        keys = {cell: 0 for cell, thing in things if is_key_to(door, thing)}
        boxes = {cell: 0 for cell, thing in things if is_key_to(door, thing.contains)}
        if planner.carrying is not None and is_key_to(door, planner.carrying.contains):
            return self._put_down(chore.avoid, "My box may hold the key")
        needed = f"The {described(door)} needs a {door.color} key"
        plan = self._approach(keys, "pick up", needed, avoid=chore.avoid)
        return plan or self._open_box(boxes, chore)

    def _open_box(self, boxes: dict[int, int], chore: Chore) -> Plan | None:
        return self._approach(boxes, "open", "{0} may hold the key", avoid=chore.avoid)

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

        plan = self._walk(faces_place, why)
        return None if plan is None else [*plan, (Macro("drop"), f"{why}, so I put it down.")]

    def _cells_of(self, things: list[Any]) -> dict[int, int]:
        ids = set(map(id, things))
        return {cell: 0 for cell, thing in self._planner.things.items() if id(thing) in ids}


def _on_the_way(macro: Macro, why: str) -> str:
    if macro.thing is None:
        return f"{why}; to get there I {macro.verb}."
    return f"{why}; the way leads by the {described(macro.thing)}."
