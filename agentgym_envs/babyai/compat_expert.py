"""Solves AgentGym's BabyAI by the actions that it lists.

The original's paths take closed doors and cells out of sight for free; only those that hold by what
is known of the level are of use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from agentgym_envs.babyai.errands import Chore, Plan
from agentgym_envs.babyai.expert import Expert, PlannedGame
from agentgym_envs.babyai.mission import doors_to_open
from agentgym_envs.babyai.planner import Macro, Planner
from agentgym_envs.babyai.sight import CLOSED, FORWARD, LEFT, OPEN, RIGHT, TOGGLE

Edge = tuple[Macro, int, int | None]
"""A plan's step, its low-level moves, and the door it opens."""

_WALKS = ("go to ", "go through ", "toggle and go through ")


class ListedPathsGame(PlannedGame, Protocol):
    """An episode whose actions are listed with their low-level moves."""

    @property
    def actions(self) -> Mapping[str, list[int]]:
        """The plain actions that are possible now, each with its low-level moves."""


class AgentGymExpert(Expert):
    """Plans for one episode of the original, with the arguments of `Expert`."""

    def __init__(self, game: ListedPathsGame, *, privileged: bool = False) -> None:
        super().__init__(game, privileged=privileged)
        self._paths = game

    def _text(self, macro: Macro) -> str:
        return super()._text(macro).replace("pick up ", "pickup ", 1)

    def _plan(self) -> Plan:
        level = self._paths.level
        self._planner = Planner(level, self._known(), unit_moves=True)
        # There a success in the middle of an action is lost, and what is open stays open.
        kept_shut = frozenset(self._cells_of(doors_to_open(level.instrs)))
        for shut in (kept_shut, frozenset[int]()):
            self._planner.kept_shut = shut
            self._planner.first_edges = _walks(self._planner, self._paths.actions)
            plan = self._next_subgoal()
            if plan:
                return plan[:1]  # paths are listed for where one stands only
        return []

    def _close(self, doors: list[Any]) -> Plan | None:
        return None

    def _open_box(self, chore: Chore) -> Plan | None:
        return None

    def _doors_to_leave(self) -> list[frozenset[int]]:
        return [self._planner.kept_shut]

    def _finish(self, verb: str, cells: frozenset[int], why: str) -> Plan | None:
        planner = self._planner
        listed = _reaching(planner, self._paths.actions, verb, cells)
        if listed is not None:
            return [(Macro(listed), f"{why}; it is in view.")]
        if verb == "go to":
            thought = f"{why}; to get there I {{0}}"
            return self._walk(lambda pose, _: planner.map.facing(pose) in cells, thought)
        return super()._finish(verb, cells, why)


def _walks(planner: Planner, actions: Mapping[str, list[int]]) -> list[Edge]:
    """List the actions that walk, as steps of a plan."""
    edges = []
    for text, moves in actions.items():
        end = _follow(planner, moves) if text.startswith(_WALKS) and moves else None
        if end is not None and end[1] not in planner.kept_shut:
            pose, door = end
            edges.append((Macro(text, pose=pose), len(moves), door))
    return edges


def _reaching(
    planner: Planner, actions: Mapping[str, list[int]], verb: str, cells: frozenset[int]
) -> str | None:
    """Return a listed action that fetches or walks up to a thing on one of the cells, or None."""
    start = {"pick up": "pickup ", "go to": "go to "}.get(verb)
    if start is None:
        return None
    for text, moves in actions.items():
        if text.startswith(start) and moves:
            end = _follow(planner, moves[:-1] if verb == "pick up" else moves)
            if end is not None and planner.map.facing(end[0]) in cells:
                return text
    return None


def _follow(planner: Planner, moves: list[int]) -> tuple[int, int | None] | None:
    # The pose after the moves and the door they open; None where one of them would change nothing.
    codes = planner.map.codes
    pose, door = planner.start, None
    for move in moves:
        front = planner.map.facing(pose)
        if move in (LEFT, RIGHT):
            pose = pose // 4 * 4 + (pose + (1 if move == RIGHT else -1)) % 4
        elif move == FORWARD and (codes[front] <= OPEN or front == door):
            pose = front * 4 + pose % 4
        elif move == TOGGLE and codes[front] == CLOSED and planner.opens(planner.things[front]):
            door = front
        else:
            return None
    return pose, door
