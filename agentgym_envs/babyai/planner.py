"""Looks ahead over the known map: the fewest turns to a pose, and the view from there."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterator, Set
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.babyai.memory import Memory
from agentgym_envs.babyai.routes import Routes
from agentgym_envs.babyai.sight import CLOSED, EMPTY, OPEN, UNKNOWN, VIEW, GridMap, moves_to

_MAX_EXPANSIONS = 8000
"""Most poses that one search expands. The largest level has 2,000."""


@dataclass(frozen=True)
class Macro:
    """One text action of a plan.

    Attributes:
        verb: the action without its object, e.g. `"go to"`.
        thing: the object, if it takes one.
        pose: the pose after it; -1 where the plan ends with it.
    """

    verb: str
    thing: Any = None
    pose: int = -1


@dataclass
class Outlook:
    """The results of a text action from a pose: the first pose found for each thing in view."""

    seen: set[int]
    facing: dict[int, int] = field(default_factory=dict)
    onto: dict[int, int] = field(default_factory=dict)
    came_from: dict[int, int] = field(default_factory=dict)


def agent_pose(level: Any, grid_map: GridMap) -> int:
    """Return the agent's pose."""
    x, y = level.agent_pos
    return grid_map.cell(int(x), int(y)) * 4 + int(level.agent_dir)


Reached = dict[int, tuple[int, Macro] | None]
"""For each pose of a search the one that it was reached from, and by which action."""

Goal = Callable[[int, Outlook], bool]
"""Returns whether a plan may end at a pose."""


class Planner(Routes):
    """Plans over the known part of a level.

    Args:
        level: the simulator; where the agent stands and what it carries are read from it.
        memory: what is known.
        unit_moves: use no actions that walk farther than a cell or two, but for `first_edges`.

    Attributes:
        start: the agent's pose.
        kept_shut: doors that a plan does not open on its way.
        first_edges: what else a plan may begin with: a step, its moves, the door it opens.
    """

    def __init__(self, level: Any, memory: Memory, *, unit_moves: bool) -> None:
        self.start = agent_pose(level, memory.map)
        super().__init__(memory, self.start // 4, level.carrying)
        self.unit_moves = unit_moves
        self.kept_shut: frozenset[int] = frozenset()
        self.first_edges: list[tuple[Macro, int, int | None]] = []

    def fewest_turns(self, goal: Goal) -> list[Macro] | None:
        """Find the fewest text actions to a pose of `goal`, low-level moves deciding ties.

        Nothing is picked up or dropped on the way; doors may be opened. A pose is visited once,
        with the doors that were open when it was first reached.
        """
        reached: Reached = {}
        with closing(self._poses(reached)) as poses:
            for _, pose, outlook in poses:
                if goal(pose, outlook):
                    return _unwind(pose, reached)
        return None

    def most_to_see(self, cells: Set[int], kept_shut: frozenset[int]) -> list[Macro] | None:
        """Find the text actions whose end shows the most of `cells` for each turn.

        Args:
            cells: what is to be seen.
            kept_shut: doors that are not opened for it.

        Returns:
            the actions; None where none of the cells can be shown.
        """
        reached: Reached = {}
        best, plan = 0.0, None
        before, self.kept_shut = self.kept_shut, kept_shut
        with closing(self._poses(reached)) as poses:
            for turns, pose, outlook in poses:
                if best * turns >= VIEW * VIEW:  # no later pose can be better
                    break
                value = len(outlook.seen & cells) / max(turns, 1)
                if value > best:
                    best, plan = value, _unwind(pose, reached)
        self.kept_shut = before
        return plan

    def _poses(self, reached: Reached) -> Generator[tuple[int, int, Outlook], None, None]:
        # Yields turns, pose and outlook in the order of the turns, and fills `reached`.
        none: frozenset[int] = frozenset()
        queue: list[tuple[int, int, int, int, frozenset[int]]] = [(0, 0, 0, self.start, none)]
        reached[self.start] = None
        for _ in range(_MAX_EXPANSIONS):
            if not queue:
                return
            turns, moves, _, pose, opened = heapq.heappop(queue)
            with _Opened(self.map, opened):
                outlook = self._outlook(pose)
                yield turns, pose, outlook
                edges = list(self._edges(pose, outlook))
            if pose == self.start:
                edges += self.first_edges
            for macro, length, door in edges:
                if macro.pose not in reached:
                    reached[macro.pose] = (pose, macro)
                    doors = opened if door is None else opened | {door}
                    entry = (turns + 1, moves + length, len(reached), macro.pose, doors)
                    heapq.heappush(queue, entry)

    def _outlook(self, pose: int) -> Outlook:
        cell, direction = divmod(pose, 4)
        grid_map = self.map
        outlook = Outlook(set(grid_map.visible(cell, direction)))
        if self.unit_moves:
            outlook.facing[grid_map.facing(pose)] = pose
            outlook.came_from = {pose: -1}
            return outlook
        missing = {c for c in outlook.seen if c in self.things and c != cell}
        doors = {c for c in missing if grid_map.codes[c] == OPEN}
        if not missing:
            return outlook
        for here, came_from in grid_map.walk(pose, outlook.seen):
            outlook.came_from = came_from
            front = grid_map.facing(here)
            if front in missing:
                missing.discard(front)
                outlook.facing[front] = here
            if here // 4 in doors:
                doors.discard(here // 4)
                outlook.onto[here // 4] = here
            if not missing and not doors:
                break
        return outlook

    def _edges(self, pose: int, outlook: Outlook) -> Iterator[tuple[Macro, int, int | None]]:
        cell, direction = divmod(pose, 4)
        front = self.map.facing(pose)
        yield Macro("turn left", pose=cell * 4 + (direction - 1) % 4), 1, None
        yield Macro("turn right", pose=cell * 4 + (direction + 1) % 4), 1, None
        if self.map.codes[front] <= OPEN:
            yield Macro("move forward", pose=front * 4 + direction), 1, None
        for target, there in outlook.facing.items():
            thing = self.things.get(target)
            if thing is None:
                continue
            length = len(moves_to(there, outlook.came_from))
            if target != front:
                yield Macro("go to", thing, there), length, None
            if target not in self.kept_shut and self._may_open(target):
                beyond = self._beyond(target, there % 4)
                yield Macro("toggle and go through", thing, beyond), length + 3, target
        for target, there in outlook.onto.items():
            length = len(moves_to(there, outlook.came_from))
            beyond = self._beyond(target, there % 4)
            yield Macro("go through", self.things[target], beyond), length + 1, None

    def _may_open(self, cell: int) -> bool:
        return self.map.codes[cell] == CLOSED and self.opens(self.things[cell])

    def _beyond(self, door: int, direction: int) -> int:
        ahead = door + self.map.steps[direction]
        stays = self.unit_moves or self.map.codes[ahead] > UNKNOWN
        return (door if stays else ahead) * 4 + direction

    # Places -----------------------------------------------------------------------------------

    def is_harmless(self, cell: int) -> bool:
        """Return whether a thing dropped there would neither part the free cells nor bar a door."""
        codes, stride = self.map.codes, self.map.stride
        if codes[cell] != EMPTY:
            return False
        around = (-stride, 1 - stride, 1, 1 + stride, stride, stride - 1, -1, -1 - stride)
        free = [codes[cell + offset] <= OPEN for offset in around]
        for offset in self.map.steps:
            if codes[cell + offset] in (OPEN, CLOSED):
                return False
        # Walk round the ring: free runs that hold a direct neighbour must be one.
        runs = 0
        for index in range(0, 8, 2):
            if free[index] and not (free[index - 1] and free[index - 2]):
                runs += 1
        return runs <= 1


class _Opened:
    """Opens doors of a map for a while."""

    def __init__(self, grid_map: GridMap, doors: frozenset[int]) -> None:
        self._codes = grid_map.codes
        self._doors = doors

    def __enter__(self) -> None:
        for door in self._doors:
            self._codes[door] = OPEN

    def __exit__(self, *_: object) -> None:
        for door in self._doors:
            self._codes[door] = CLOSED


def _unwind(pose: int, reached: Reached) -> list[Macro]:
    plan = []
    while (entry := reached[pose]) is not None:
        pose, macro = entry
        plan.append(macro)
    return plan[::-1]
