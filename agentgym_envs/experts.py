"""What an environment with an expert offers: its moves as data, and as completions."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator

from agentgym_envs.actions import ActionParser
from agentgym_envs.errors import NoExpert
from agentgym_envs.outcome import ExpertMove
from agentgym_envs.scenario_checks import check_move
from agentgym_envs.tasks import TaskSpec

NAMES = re.compile(r'"([^"\n]+)"|(?<=[a-z,;] )([A-Z][\w\'’-]*\w)|\b(\d{4,})\b')
"""Quotations, words with a capital within a sentence, and numbers of four digits and more."""


class ExpertMixin:
    """The experts of an environment, which writes `expert_moves` if it has one."""

    parser: ActionParser
    _turn: int

    @property
    @abstractmethod
    def task(self) -> TaskSpec:
        """The current task."""

    @property
    def thing_names(self) -> re.Pattern[str]:
        """What matches the names of things; matches are compared by their groups.

        The conformance suite requires that a thought of the expert names only what the goal and
        the observations so far have shown.
        """
        return NAMES

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from the current state.

        Raises:
            NoExpert: the environment, or this task, has none.
        """
        raise NoExpert(f"{type(self).__name__} has no expert")

    def privileged_expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves as `expert_moves` does, from all that the simulator knows.

        Raises:
            NoExpert: the environment has no such expert.
        """
        raise NoExpert(
            f"{type(self).__name__} has no privileged expert; take expert() without privileged"
        )

    def expert(self, *, privileged: bool = False) -> Iterator[str]:
        """Iterate over actions in the env's own `action_format` that solve the current task.

        Valid from the current state; step the environment with each action before taking the next.

        Args:
            privileged: ask the expert that may use what no observation has shown, where there is
                one.

        Raises:
            ResetNeeded: there has been no reset yet.
            NoExpert: at the first action, where there is no expert.
        """
        _ = self.task
        return self._formatted(self.privileged_expert_moves if privileged else self.expert_moves)

    def _formatted(self, moves: Callable[[], Iterator[ExpertMove]]) -> Iterator[str]:
        try:
            for move in moves():
                check_move(move, type(self).__name__)
                yield self.parser.format(move.action, move.thought)
        except Exception as error:
            error.add_note(f"raised by the expert in {self.task.task_id}, after turn {self._turn}")
            raise
