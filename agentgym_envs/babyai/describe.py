"""Describes the agent's view in names and words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agentgym_envs.babyai.sight import OPEN, THING, WALL, GridMap

_REFERENCE = re.compile(
    r"(?:(?:the|a) )?(?P<colour>[a-z]+) (?:(?:open|closed|locked) )?(?P<kind>[a-z]+)"
    r"(?: (?P<number>[1-9][0-9]{0,3}))?"
)


THING_NAME = re.compile(
    r"\b(red|green|blue|purple|yellow|grey) (?:(?:open|closed|locked) )?"
    r"(ball|box|door|key|object)\b"
)
"""Matches a thing in words, in goals, observations and thoughts."""


@dataclass(frozen=True)
class Sighting:
    """One thing in view.

    Attributes:
        thing: minigrid's object.
        cell: where it is.
        name: what actions call it, e.g. `"red ball 1"` or `"blue closed door 2"`.
        ahead: steps ahead of the agent.
        right: steps to its right, negative to its left.
    """

    thing: Any
    cell: int
    name: str
    ahead: int
    right: int


@dataclass
class Names:
    """The numbers of things: given at first sight, nearest first, for the whole episode."""

    _numbers: dict[Any, int] = field(default_factory=dict)
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def number(self, thing: Any) -> int:
        """Return a thing's number among those of its colour and kind."""
        number = self._numbers.get(thing)
        if number is None:
            key = (thing.color, thing.type)
            number = self._counts[key] = self._counts.get(key, 0) + 1
            self._numbers[thing] = number
        return number

    def name(self, thing: Any) -> str:
        """Return a thing's name, with the state of a door."""
        return f"{described(thing)} {self.number(thing)}"


def described(thing: Any) -> str:
    """Return a thing in words without its number."""
    if thing.type != "door":
        return f"{thing.color} {thing.type}"
    state = "open" if thing.is_open else "locked" if thing.is_locked else "closed"
    return f"{thing.color} {state} door"


class View:
    """The view from the agent's pose.

    Args:
        level: the simulator.
        grid_map: its grid as codes, up to date.
        names: the episode's names; things seen for the first time get theirs.

    Attributes:
        cell, direction: where the agent stands and looks.
        seen: the visible cells.
        things: what is on them, nearest first.
    """

    def __init__(self, level: Any, grid_map: GridMap, names: Names) -> None:
        x, y = level.agent_pos
        self.cell = grid_map.cell(int(x), int(y))
        self.direction = int(level.agent_dir)
        self.carrying = level.carrying
        self.grid_map = grid_map
        cells = grid_map.visible(self.cell, self.direction)
        self.seen = set(cells)
        self.things = self._sightings(level, cells, names)
        if self.carrying is not None:
            names.number(self.carrying)
        self._names = names

    @property
    def pose(self) -> int:
        """`cell * 4 + direction`."""
        return self.cell * 4 + self.direction

    @property
    def front(self) -> int:
        """The cell in front of the agent."""
        return self.cell + self.grid_map.steps[self.direction]

    @cached_property
    def reach(self) -> set[int]:
        """The cells one can walk to without leaving the current view."""
        return self.grid_map.reachable(self.cell, self.seen)

    @property
    def facing(self) -> Sighting | None:
        """The thing right in front of the agent."""
        front = self.front
        return next((s for s in self.things if s.cell == front), None)

    def can_approach(self, sighting: Sighting) -> bool:
        """Return whether the agent can get next to a thing over cells it sees."""
        return self.grid_map.beside(sighting.cell, self.reach)

    def find(self, reference: str) -> Sighting | str:
        """Look a thing up by name.

        A door's state and a single thing's number may be left out.

        Returns:
            the sighting, or why there is none.
        """
        match = _REFERENCE.fullmatch(reference)
        if match is None:
            return f"There is nothing called {reference[:60]!r}."
        colour, kind, number = match.group("colour", "kind", "number")
        matches = [s for s in self.things if (s.thing.color, s.thing.type) == (colour, kind)]
        if number is not None:
            matches = [s for s in matches if self._names.number(s.thing) == int(number)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            return f"There is more than one {colour} {kind}; add its number."
        return f"You do not see {reference[:60]} from here."

    def __str__(self) -> str:
        """The view in words."""
        if self.things:
            sights = ", ".join(f"{s.name} ({_where(s.ahead, s.right)})" for s in self.things)
            text = f"You see {sights}. "
        else:
            text = "You see no objects. "
        wall = self._wall_ahead()
        if wall is not None:
            text += f"A wall is {wall} step{'s' if wall > 1 else ''} ahead. "
        if self.carrying is None:
            return text + "You carry nothing."
        return text + f"You carry {self._names.name(self.carrying)}."

    def _sightings(self, level: Any, cells: list[int], names: Names) -> list[Sighting]:
        grid_map = self.grid_map
        codes = grid_map.codes
        grid, width = level.grid.grid, level.grid.width
        ahead_x, ahead_y = ((1, 0), (0, 1), (-1, 0), (0, -1))[self.direction]
        here_x, here_y = grid_map.position(self.cell)
        rows = []
        for cell in cells:
            if codes[cell] not in (WALL, 0):
                x, y = grid_map.position(cell)
                dx, dy = x - here_x, y - here_y
                ahead, right = dx * ahead_x + dy * ahead_y, dy * ahead_x - dx * ahead_y
                rows.append((abs(dx) + abs(dy), cell, grid[y * width + x], ahead, right))
        rows.sort(key=lambda row: row[0])
        return [
            Sighting(thing, cell, names.name(thing), ahead, right)
            for _, cell, thing, ahead, right in rows
        ]

    def _wall_ahead(self) -> int | None:
        step = self.grid_map.steps[self.direction]
        cell, distance = self.cell + step, 1
        while cell in self.seen:
            code = self.grid_map.codes[cell]
            if code == WALL:
                return distance
            if code > THING:
                return None
            cell, distance = cell + step, distance + 1
        return None

    def is_walkable(self, cell: int) -> bool:
        """Return whether the agent can stand on a cell."""
        return self.grid_map.codes[cell] <= OPEN


def _where(ahead: int, right: int) -> str:
    parts = [f"{ahead} ahead"] if ahead else []
    if right:
        parts.append(f"{abs(right)} {'right' if right > 0 else 'left'}")
    return ", ".join(parts)
