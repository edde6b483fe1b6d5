"""Numbers Maze's tasks: AgentGym's 25 starts in the double T, and our mazes and rooms."""

from __future__ import annotations

from agentgym_envs.core.tasks import ListedTasks
from agentgym_envs.maze.layouts import Maze, corridors, double_t, double_t_starts, rooms

DOUBLE_T = "double T"
CORRIDORS = (4, 6, 8)
"""The number of corridors of our mazes, by the number's remainder."""

ROOMS = "rooms"
"""The split of larger mazes, and its one subtask."""

_ROOMS_NUMBERS = range(7000, 7200)
_NUMBERS = {
    "train": range(3000, 6000),
    "validation": range(1000, 1075),
    "test": range(2000, 2150),
}
"""Task numbers of our mazes, by split."""


class MazeTasks(ListedTasks):
    """Tasks by subtask and split.

    The double T is for tests alone, as in AgentGym's evaluation.
    """

    def __init__(self) -> None:
        table = {
            split: {
                f"corridors {count}": numbers[place :: len(CORRIDORS)]
                for place, count in enumerate(CORRIDORS)
            }
            for split, numbers in _NUMBERS.items()
        }
        table["test"] = {DOUBLE_T: range(len(double_t_starts())), **table["test"]}
        super().__init__("maze", {**table, ROOMS: {ROOMS: _ROOMS_NUMBERS}})

    def maze(self, number: int) -> Maze:
        """Return a task's maze."""
        subtask, _ = self.describe(number)
        if subtask == DOUBLE_T:
            return double_t(number)
        if subtask == ROOMS:
            return rooms(number)
        return corridors(number, int(subtask.removeprefix("corridors ")))
