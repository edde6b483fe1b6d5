"""Walks through a maze by text, by the default mode's rules and by the original's."""

from __future__ import annotations

from agentgym_envs.actions.verbs import clipped
from agentgym_envs.core import Outcome
from agentgym_envs.core.game import Game
from agentgym_envs.errors import InvalidAction
from agentgym_envs.maze.layouts import DIRECTIONS, Cell, Maze, moved

ACTIONS = {f"move {direction}": direction for direction in DIRECTIONS}

_BESIDE = {"right": "to your right", "left": "to your left", "up": "above you", "down": "below you"}
"""The order is that of the text."""

_OPPOSITE = {"left": "right", "right": "left", "up": "down", "down": "up"}

_ORIGINAL_LIMIT = 50
"""Moves after which the original's game is lost, at the next one."""


class Walk(Game):
    """One walk to the goal of a maze.

    Args:
        maze: the maze.

    Attributes:
        position: the cell where one stands.
        seen: the open directions of each cell where one has stood.
    """

    def __init__(self, maze: Maze) -> None:
        self.maze = maze
        self.position = maze.start
        self.seen: dict[Cell, tuple[str, ...]] = {}
        self.goal = "Reach the goal at position {}, {}.".format(*maze.goal)
        self.first_observation = self._look()

    @property
    def is_at_goal(self) -> bool:
        """One stands at the goal."""
        return self.position == self.maze.goal

    @property
    def is_over(self) -> bool:
        """The walk has ended."""
        return self.is_at_goal

    def act(self, action: str) -> Outcome:
        """Take a step, with reward 1 at the goal."""
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
        if self.is_at_goal:
            return Outcome.won("You reached the goal.")
        return Outcome(self._look())

    def refuse(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action, and say again where one stands."""
        return self._refused(str(error))

    def available_actions(self) -> list[str]:
        """List the moves that no wall prevents."""
        return [] if self.is_at_goal else [f"move {way}" for way in self.seen[self.position]]

    def is_known_wall(self, cell: Cell) -> bool:
        """Return whether a cell was seen to be wall from one beside it."""
        return any(
            moved(cell, back) in self.seen and way not in self.seen[moved(cell, back)]
            for way, back in _OPPOSITE.items()
        )

    def _look(self) -> str:
        """Note the walls here and return their description."""
        walls = [way for way in _BESIDE if self.maze.is_wall(self.position, way)]
        self.seen[self.position] = tuple(way for way in DIRECTIONS if way not in walls)
        (row, column), (goal_row, goal_column) = self.position, self.maze.goal
        return (
            f"The goal is at position {goal_row}, {goal_column}. Your current position is at "
            f"position {row}, {column}. {_walls_as_text([_BESIDE[way] for way in walls])}"
        )

    def _refused(self, why: str) -> Outcome:
        return Outcome.invalid(f"{why} {self._look()}")


class OriginalWalk(Walk):
    """A walk as LMRL-Gym answers it by AgentGym's settings, with the arguments of `Walk`."""

    _num_moves = 0

    @property
    def is_over(self) -> bool:
        """The walk has ended, at the goal or after too many moves."""
        return self.is_at_goal or self._num_moves > _ORIGINAL_LIMIT

    def act(self, action: str) -> Outcome:
        """Take a step.

        A text that is no move is no mistake either.
        """
        if self._num_moves >= _ORIGINAL_LIMIT:
            self._num_moves += 1
            return Outcome("Failure\n", -1.0, terminated=True)
        direction = ACTIONS.get(action)
        is_valid = direction is not None and not self.maze.is_wall(self.position, direction)
        if direction is not None and is_valid:
            self.position = moved(self.position, direction)
        if self.is_at_goal:
            return Outcome.won("Success\n")
        self._num_moves += 1
        return Outcome(self._look(), is_valid=is_valid)

    def refuse(self, completion: str, error: InvalidAction) -> Outcome:
        """Take a completion that holds no action for a step to nowhere."""
        return self.act("")


def _walls_as_text(walls: list[str]) -> str:
    if not walls:
        return "There are no walls near you."
    return f"There {'is a wall' if len(walls) == 1 else 'are walls'} {', '.join(walls)}."
