"""Solves every level through text actions, with few turns.

The expert plans one subgoal at a time over what is known of the level, and checks before each
action that the world is as planned, so it starts from any state. By default it knows what the
episode's views have shown and explores for the rest; the privileged one knows the whole level. It
stops where it has no plan, and after `MAX_MOVES` actions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Protocol

from minigrid.envs.babyai.core.verifier import GoToInstr, OpenInstr, PickupInstr, PutNextInstr

from agentgym_envs.babyai.describe import described
from agentgym_envs.babyai.errands import Errands, Plan
from agentgym_envs.babyai.memory import Memory
from agentgym_envs.babyai.mission import (
    doors_to_open,
    in_words,
    initial_cells,
    pending_clauses,
    sought,
)
from agentgym_envs.babyai.planner import Macro, Planner, agent_pose
from agentgym_envs.babyai.routes import LOCKED_COST, THING_COST
from agentgym_envs.babyai.sight import CLOSED, EMPTY, THING, UNKNOWN
from agentgym_envs.core import ExpertMove

MAX_MOVES = 1000
"""Most moves of an expert. No level's plan comes near it."""


class PlannedGame(Protocol):
    """The parts of an episode that the expert needs."""

    @property
    def level(self) -> Any:
        """The minigrid level."""

    @property
    def memory(self) -> Memory:
        """The knowledge that the views of the episode have given."""

    @property
    def actions(self) -> Collection[str]:
        """The plain actions that are possible now."""

    @property
    def is_over(self) -> bool:
        """The episode has ended."""

    def name_of(self, thing: Any) -> str:
        """Return an action's name for one of minigrid's objects."""


class Expert(Errands):
    """Plans for one episode.

    Args:
        game: the episode.
        privileged: know the whole level, seen or not.
    """

    def __init__(self, game: PlannedGame, *, privileged: bool = False) -> None:
        super().__init__()
        self._game = game
        self._privileged = privileged
        self._focus: Any = None

    def moves(self) -> Iterator[ExpertMove]:
        """Yield moves until the episode ends, each to be played before the next is taken."""
        plan: Plan = []
        unknown = 0
        for _ in range(MAX_MOVES):
            if self._game.is_over:
                return
            num_unknown = self._game.memory.map.codes.count(UNKNOWN)
            news = num_unknown != unknown and not self._privileged
            if news or not plan or self._text(plan[0][0]) not in self._game.actions:
                plan = self._plan()
            unknown = num_unknown
            if not plan:
                return
            macro, thought = plan.pop(0)
            yield ExpertMove(self._text(macro), thought[0].upper() + thought[1:])
            if macro.pose != agent_pose(self._game.level, self._planner.map):
                plan = []

    def _text(self, macro: Macro) -> str:
        if macro.thing is None:
            return macro.verb
        name = self._game.name_of(macro.thing)
        if macro.verb == "open" and f"open {name}" not in self._game.actions:
            return "toggle"
        return f"{macro.verb} {name}"

    def _known(self) -> Memory:
        return Memory.from_level(self._game.level) if self._privileged else self._game.memory

    def _plan(self) -> Plan:
        self._planner = Planner(self._game.level, self._known(), unit_moves=False)
        return self._next_subgoal()

    def _next_subgoal(self) -> Plan:
        plan = self._next_chore()
        if plan:
            return plan
        pending = pending_clauses(self._game.level.instrs)
        if self._focus in pending:
            pending = [self._focus]
        plans = [(self._plan_for(instruction), instruction) for instruction in pending]
        lengths = [(len(plan), i) for i, (plan, _) in enumerate(plans) if plan]
        if lengths:
            plan, self._focus = plans[min(lengths)[1]]
            return plan or []
        self._focus = None
        return self._search(pending[0]) or []

    def _search(self, instruction: Any) -> Plan | None:
        memory = self._game.memory
        desc = sought(instruction, self._lacking)
        is_there = initial_cells(desc, memory)
        nearby: set[int] = set()
        if is_there is not None:  # then it is in the room where one began
            nearby = set(filter(is_there, memory.map.frontier()))
        elif isinstance(instruction, OpenInstr) and instruction is not self._game.level.instrs:
            nearby = memory.map.frontier()  # to open another door may spoil the order
        return self._explore(f"I look for {in_words(desc)}", nearby)

    def _lacking(self, things: list[Any]) -> bool:
        return not self._cells_of(things) and self._planner.carrying not in things

    def _plan_for(self, instruction: Any) -> Plan | None:
        if isinstance(instruction, GoToInstr):
            targets = self._cells_of(instruction.desc.obj_set)
            if not targets and self._is_carried(instruction.desc.obj_set):
                return self._put_down(set(), "The goal is in my hand")
            return self._approach(targets, "go to", self._goal("go to", instruction.desc))
        if isinstance(instruction, PickupInstr):
            targets = self._cells_of(instruction.desc.obj_set)
            if not targets and self._is_carried(instruction.desc.obj_set):
                return self._put_down(set(), "I must pick this up anew")
            return self._approach(targets, "pick up", self._goal("pick up", instruction.desc))
        if isinstance(instruction, OpenInstr):
            return self._open(instruction.desc)
        if isinstance(instruction, PutNextInstr):
            return self._put_next(instruction)
        raise TypeError(f"unknown instruction {type(instruction).__name__}")

    def _goal(self, deed: str, desc: Any) -> str:
        # "the key" is what the goal says, "the blue key" what was seen.
        words = in_words(desc)
        names = {described(self._planner.things[cell]) for cell in self._cells_of(desc.obj_set)}
        if names <= {words.partition(" ")[2]}:
            return f"The goal says to {deed} {{0}}"
        return f"The goal says to {deed} {words}, and {{0}} fits"

    def _open(self, desc: Any) -> Plan | None:
        planner, doors = self._planner, desc.obj_set
        shut = {
            cell: 0 if planner.opens(planner.things[cell]) else LOCKED_COST
            for cell in self._cells_of(doors)
            if planner.map.codes[cell] == CLOSED
        }
        if shut:
            return self._approach(shut, "open", self._goal("open", desc))
        return self._close(doors)

    def _close(self, doors: list[Any]) -> Plan | None:
        return self._approach(
            self._cells_of(doors), "close", "{0} is to be opened again, so I close it"
        )

    def _put_next(self, instruction: Any) -> Plan | None:
        planner = self._planner
        movers = instruction.desc_move.obj_set
        if not self._is_carried(movers):
            return self._approach(self._cells_of(movers), "pick up", "{0} is to be moved")
        fixed = self._cells_of(instruction.desc_fixed.obj_set)
        places = {}
        for cell in fixed:
            for step in planner.map.steps:
                place = cell + step
                if planner.map.codes[place] in (EMPTY, THING) and place not in fixed:
                    places[place] = 0 if planner.map.codes[place] == EMPTY else THING_COST
        route = planner.route(places)
        if route is None:
            return None
        mover = described(planner.carrying)
        why = f"The {mover} belongs next to the {described(planner.things[min(fixed)])}"
        if route.obstacles:
            return self._clear(route.obstacles[0], {*route.cells, route.target}, why)
        free = {place for place, cost in places.items() if cost == 0}
        return self._face_and_drop(free.__contains__, why)

    def _doors_to_leave(self) -> list[frozenset[int]]:
        # Doors of other clauses are not to be opened yet.
        doors = self._cells_of(doors_to_open(self._game.level.instrs))
        return [frozenset(doors), frozenset()]

    def _is_carried(self, things: list[Any]) -> bool:
        return any(self._planner.carrying is thing for thing in things)

    def _cells_of(self, things: list[Any]) -> dict[int, int]:
        ids = set(map(id, things))
        return {cell: 0 for cell, thing in self._planner.things.items() if id(thing) in ids}


class SingleMoveExpert(Expert):
    """Plans where the actions are single moves, with the arguments of `Expert`."""

    def _text(self, macro: Macro) -> str:
        return "toggle" if macro.verb in ("open", "close") else macro.verb

    def _plan(self) -> Plan:
        self._planner = Planner(self._game.level, self._known(), unit_moves=True)
        return [
            step for macro, thought in self._next_subgoal() for step in self._moves(macro, thought)
        ]

    def _moves(self, macro: Macro, thought: str) -> Plan:
        if macro.verb != "toggle and go through":
            return [(macro, thought)]
        door, direction = divmod(macro.pose, 4)
        before = (door - self._planner.map.steps[direction]) * 4 + direction
        through = (Macro("move forward", pose=macro.pose), "The door is open; I go through.")
        return [(Macro("toggle", pose=before), thought), through]

    def _finish(self, verb: str, cells: frozenset[int], why: str) -> Plan | None:
        if verb != "go to":
            return super()._finish(verb, cells, why)
        planner = self._planner
        plan = self._walk(lambda pose, _: planner.map.facing(pose) in cells, f"{why}; I {{0}}")
        return [(Macro("turn left"), f"{why}; I must face it anew.")] if plan == [] else plan
