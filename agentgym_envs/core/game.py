"""Defines `Game`, the rules of one episode, and `GameEnv`, which makes one per episode.

A game knows nothing of formats, turn limits and seeds. Where an environment plays by several sets
of rules, such as its own and the original's, each is a game.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

from agentgym_envs.core.env import TextEnv
from agentgym_envs.core.outcome import ExpertMove, Outcome
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import InvalidAction, NoExpert


class Game(Protocol):
    """One episode by one set of rules.

    A class that derives from it has the defaults here.

    Attributes:
        goal: the goal in words.
        first_observation: what the policy reads first.
    """

    goal: str
    first_observation: str

    @property
    def is_over(self) -> bool:
        """The game has ended: won, lost, or at its own limit."""

    def act(self, action: str) -> Outcome:
        """Play one plain action."""

    def refuse(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        return Outcome.invalid(str(error))

    def available_actions(self) -> list[str] | None:
        """List the plain actions that are possible now, or None where they are not listed."""
        return None

    def info(self) -> Mapping[str, Any]:
        """Return the keys that the game adds to `info`."""
        return {}

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that win from the current state, until the game is over.

        Raises:
            NoExpert: there is no expert.
        """
        raise NoExpert(f"{type(self).__name__} has no expert")


AnyGame = TypeVar("AnyGame", bound=Game)


class GameEnv(TextEnv, Generic[AnyGame]):
    """A text environment that makes a game for each episode: a scenario writes `make_game`."""

    @abstractmethod
    def make_game(self, task: TaskSpec) -> AnyGame:
        """Return a new game of the task."""

    @property
    def game(self) -> AnyGame:
        """The current episode's game.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        _ = self.task
        return self.__game

    def begin(self, task: TaskSpec) -> str:
        """Make the task's game."""
        self.__game = self.make_game(task)
        self.goal = self.__game.goal
        return self.__game.first_observation

    def apply(self, action: str) -> Outcome:
        """Play one plain action."""
        return self.__game.act(action)

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        return self.__game.refuse(completion, error)

    def available_actions(self) -> list[str] | None:
        """List the plain actions that are possible now, or None where they are not listed.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        return self.game.available_actions()

    def extra_info(self) -> Mapping[str, Any]:
        """Return the keys that the game adds to `info`."""
        return self.__game.info()

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that win from the current state."""
        return self.game.expert_moves()
