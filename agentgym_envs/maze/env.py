"""Maze: walk to a goal whose position is known, seeing only the walls next to the agent.

The scenario of AgentGym, which has it from LMRL-Gym (arXiv 2311.18232): its double T with the 25
starts, and mazes of our own. `compat="agentgym"` gives the original's text and rewards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.actions.compat import FirstActionParser, WholeTextParser
from agentgym_envs.core import ExpertMove
from agentgym_envs.core.game import GameEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.maze.expert import (
    best_first,
    explore,
    nearest_unvisited,
    right_hand,
    shortest,
    toward_goal,
)
from agentgym_envs.maze.tasks import MazeTasks
from agentgym_envs.maze.walk import OriginalWalk, Walk

VERSION = 1
"""Raise it with every change after which a task id begins otherwise."""


class MazeEnv(GameEnv[Walk]):
    """A maze of corridors.

    Args:
        compat: None, or `"agentgym"` for the original's text, and its reward of -1 after 50 moves.
        **kwargs: as `TextEnv`.
    """

    task_set = MazeTasks()
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
    shows_state = True
    source = f"maze v{VERSION}"
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": WholeTextParser(),
        "react": FirstActionParser(),
    }
    baselines = {
        "toward_goal": lambda env: toward_goal(env.game),
        "right_hand": lambda env: right_hand(env.game),
        "nearest_unvisited": lambda env: nearest_unvisited(env.game),
        "best_first": lambda env: best_first(env.game),
    }

    def make_game(self, task: TaskSpec) -> Walk:
        """Stand at the start of the task's maze."""
        return (OriginalWalk if self.is_agentgym_compat else Walk)(self.task_set.maze(task.number))

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves to the goal from the current cell, by the cells seen until then."""
        return explore(self.game)

    def privileged_expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the moves of the shortest way."""
        return shortest(self.game)
