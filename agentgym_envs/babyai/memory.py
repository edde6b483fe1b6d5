"""Keeps an agent's map of a level: the cells it has seen, and their content at that time."""

from __future__ import annotations

from typing import Any

from agentgym_envs.babyai.describe import View
from agentgym_envs.babyai.sight import GridMap


class Memory:
    """The known part of a level.

    Args:
        grid_map: a map of the level.

    Attributes:
        map: the cells as codes; UNKNOWN where nothing was seen yet.
        things: what was last seen on each cell.
        start: the pose in which the first view was seen; -1 before it.
    """

    def __init__(self, grid_map: GridMap) -> None:
        self.map = grid_map.blank()
        self.things: dict[int, Any] = {}
        self.start = -1

    @classmethod
    def from_level(cls, level: Any) -> Memory:
        """Return the whole of a level as it is now, seen or not."""
        grid_map, width = GridMap(level), level.grid.width
        memory = cls(grid_map)
        memory.map = grid_map
        memory.things = {
            grid_map.cell(index % width, index // width): thing
            for index, thing in enumerate(level.grid.grid)
            if thing is not None and thing.type != "wall"
        }
        return memory

    def see(self, view: View) -> None:
        """Remember a view."""
        if self.start < 0:
            self.start = view.pose
        known, codes = self.map.codes, view.grid_map.codes
        for cell in view.seen:
            known[cell] = codes[cell]
            self.things.pop(cell, None)
        for sighting in view.things:
            self.things[sighting.cell] = sighting.thing
        known[view.cell] = codes[view.cell]  # not in view, but one stands there
