"""Experts and baselines of an environment: their moves as data, and as completions."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser
from agentgym_envs.core.checks import check_move
from agentgym_envs.core.outcome import ExpertMove
from agentgym_envs.core.snapshots import State
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import NoExpert

NAMES = re.compile(r'"([^"\n]+)"|(?<=[a-z,;] )([A-Z][\w\'’-]*\w)|\b(\d{4,})\b')
"""Quotations, words with a capital within a sentence, and numbers of four digits and more."""

_END: Any = object()


class ExpertMixin:
    """The expert of an environment, if it writes `expert_moves`, and its baselines."""

    baselines: ClassVar[Mapping[str, Callable[[Any], Iterator[ExpertMove]]]] = {}
    """Rule-based policies by name, as baselines for an agent.

    Each is a function of the environment that yields moves as `expert_moves` does, from a new
    episode on.
    """

    parser: ActionParser
    _text_env: State

    @property
    @abstractmethod
    def task(self) -> TaskSpec:
        """The current task."""

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """No episode is under way."""

    @property
    def thing_names(self) -> re.Pattern[str]:
        """The pattern of the names of things, whose matches are compared by their groups.

        The conformance suite requires that a thought of the expert names only what the goal and
        the observations so far have shown.
        """
        return NAMES

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from the current state.

        `expert()` asks for none after the episode's end.

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
        return self.__formatted(self.privileged_expert_moves if privileged else self.expert_moves)

    def baseline(self, name: str) -> Iterator[str]:
        """Iterate over the actions of one of `baselines`, as `expert` does over the expert's.

        Raises:
            ResetNeeded: there has been no reset yet.
            NoExpert: there is no baseline of this name.
        """
        _ = self.task
        if name not in self.baselines:
            raise NoExpert(
                f"{type(self).__name__} has no baseline {name!r}; it has: "
                f"{', '.join(self.baselines) or 'none, but chance is the policy random'}"
            )
        return self.__formatted(lambda: self.baselines[name](self), f"baseline {name}")

    def __formatted(
        self, moves: Callable[[], Iterator[ExpertMove]], who: str = "expert"
    ) -> Iterator[str]:
        try:
            iterator = iter(moves())
            while not self.is_over and (move := next(iterator, _END)) is not _END:
                check_move(move, type(self).__name__)
                yield self.parser.format(move.action, move.thought)
        except Exception as error:
            turn = self._text_env.turn
            error.add_note(f"raised by the {who} in {self.task.task_id}, after turn {turn}")
            raise
