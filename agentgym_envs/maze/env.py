"""Maze: walk to a goal whose position is known, and see no more than the walls beside oneself.

The scenario of AgentGym, which has it from LMRL-Gym (arXiv 2311.18232): its double T with the 25
starts, and mazes of our own. `compat="agentgym"` gives the original's text and rewards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.actions.compat import FirstActionParser, WholeTextParser
from agentgym_envs.actions.verbs import clipped
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import InvalidAction
from agentgym_envs.maze.expert import (
    best_first,
    explore,
    nearest_unvisited,
    right_hand,
    shortest,
    toward_goal,
)
from agentgym_envs.maze.layouts import DIRECTIONS, Cell, Maze, moved
from agentgym_envs.maze.tasks import MazeTasks

VERSION = 1
"""Raise it with every change after which a task id begins otherwise."""

ACTIONS = {f"move {direction}": direction for direction in DIRECTIONS}

_BESIDE = {"right": "to your right", "left": "to your left", "up": "above you", "down": "below you"}
"""The order is that of the text."""

_ORIGINAL_LIMIT = 50
"""Moves after which the original's game is lost, at the next one."""


class MazeEnv(TextEnv):
    """A maze of corridors.

    Args:
        compat: None, or `"agentgym"` for the original's text, and its reward of -1 after 50 moves.
        **kwargs: as `TextEnv`.

    Attributes:
        maze: the current episode's.
        position: the cell where one stands.
        seen: the open directions of each cell where one has stood.
    """

    instructions = (
        "You walk through a maze to a goal. Each turn you are told the position of the goal and "
        "your own, as row and column, and the walls beside you. Rows are counted downwards and "
        "columns to the right: moving down adds 1 to the first number, moving right adds 1 to the "
        "second. Each turn you do one of: move up, move down, move left, move right. A wall in "
        "the way costs the turn."
    )
    verbs = (
        ActionVerb("move", "move {direction}", "Walk to the next cell: up, down, left or right."),
    )
    default_max_turns = 15
    source = f"maze v{VERSION}"
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": WholeTextParser(),
        "react": FirstActionParser(),
    }
    floors = {
        "toward_goal": toward_goal,
        "right_hand": right_hand,
        "nearest_unvisited": nearest_unvisited,
        "best_first": best_first,
    }
    maze: Maze
    position: Cell

    def __init__(self, *, compat: str | None = None, **kwargs: Any) -> None:
        self._tasks = MazeTasks()
        super().__init__(self._tasks, compat=compat, **kwargs)

    def begin(self, task: TaskSpec) -> str:
        """Stand at the start."""
        self.maze = self._tasks.maze(task.number)
        self.position = self.maze.start
        self.seen: dict[Cell, tuple[str, ...]] = {}
        self._num_moves = 0
        self.goal = "Reach the goal at position {}, {}.".format(*self.maze.goal)
        return self._look()

    def apply(self, action: str) -> Outcome:
        """Take a step; reaching the goal pays 1 and ends the episode."""
        if self.is_agentgym_compat:
            return self._original(action)
        direction = ACTIONS.get(" ".join(action.lower().split()))
        if direction is None:
            allowed = ", ".join(ACTIONS)
            why = f"{clipped(action, 100)!r} is no move; a move is one of: {allowed}."
            return self._refused(why)
        if self.maze.is_wall(self.position, direction):
            return self._refused(
                f"There is a wall {_BESIDE[direction]}, so you stay where you are."
            )
        self.position = moved(self.position, direction)
        if self.position == self.maze.goal:
            return Outcome("You reached the goal.", 1.0, terminated=True, info={"success": True})
        return Outcome(self._look())

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        return self._original("") if self.is_agentgym_compat else self._refused(str(error))

    def available_actions(self) -> list[str] | None:
        """List the moves that no wall prevents.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        super().available_actions()
        if self.position == self.maze.goal:
            return []
        return [f"move {direction}" for direction in self.seen[self.position]]

    @property
    def is_over(self) -> bool:
        """The episode has ended."""
        return self._over

    def is_known_wall(self, cell: Cell) -> bool:
        """Return whether a cell was seen to be wall from one beside it."""
        return any(
            moved(cell, back) in self.seen and way not in self.seen[moved(cell, back)]
            for way, back in _OPPOSITE.items()
        )

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves to the goal from the current cell, by what was seen until then."""
        return explore(self)

    def privileged_expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the moves of the shortest way."""
        return shortest(self)

    def _look(self) -> str:
        """Note the walls here down, and return what one is told."""
        walls = [way for way in _BESIDE if self.maze.is_wall(self.position, way)]
        self.seen[self.position] = tuple(way for way in DIRECTIONS if way not in walls)
        (row, column), (goal_row, goal_column) = self.position, self.maze.goal
        return (
            f"The goal is at position {goal_row}, {goal_column}. Your current position is at "
            f"position {row}, {column}. {_walls_as_text([_BESIDE[way] for way in walls])}"
        )

    def _refused(self, why: str) -> Outcome:
        return Outcome(f"{why} {self._look()}", info={"is_valid_action": False})

    def _original(self, action: str) -> Outcome:
        """Answer as LMRL-Gym does by AgentGym's settings: what is no move is no mistake either."""
        if self._num_moves >= _ORIGINAL_LIMIT:
            return Outcome("Failure\n", -1.0, terminated=True)
        direction = ACTIONS.get(action)
        is_valid = direction is not None and not self.maze.is_wall(self.position, direction)
        if direction is not None and is_valid:
            self.position = moved(self.position, direction)
        if self.position == self.maze.goal:
            return Outcome("Success\n", 1.0, terminated=True, info={"success": True})
        self._num_moves += 1
        return Outcome(self._look(), info={"is_valid_action": is_valid})


_OPPOSITE = {"left": "right", "right": "left", "up": "down", "down": "up"}


def _walls_as_text(walls: list[str]) -> str:
    if not walls:
        return "There are no walls near you."
    return f"There {'is a wall' if len(walls) == 1 else 'are walls'} {', '.join(walls)}."
