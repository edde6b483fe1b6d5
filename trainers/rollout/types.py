"""A live episode, and what a policy that reads it answers. Knows text; no environment is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agentgym_envs.trajectory import Trajectory
from wrappers import TextVector


@dataclass(eq=False)
class Episode:
    """A live episode.

    Attributes:
        key: names this attempt, uniquely within a run; it follows from the task's place in the list
            and from how often it was begun, not from when.
        index: the task's place in the list given to `run`.
        env, slot: where it is played.
        observation: what the policy reads next.
        info: the environment's last info.
        trajectory: the record so far.
    """

    key: int
    index: int
    env: TextVector
    slot: int
    observation: str
    info: dict[str, Any]
    trajectory: Trajectory


@dataclass(frozen=True)
class Reply:
    """A policy's turn.

    Attributes:
        completion: what the policy wrote; recorded.
        action: the part of it that the environment reads.
        num_tokens: sampled tokens.
    """

    completion: str
    action: str
    num_tokens: int = 0


@dataclass(frozen=True)
class Stop:
    """A policy's word that it cannot go on; the episode is truncated by `cause`."""

    cause: str


@runtime_checkable
class Policy(Protocol):
    """Whoever answers observations."""

    name: str

    def act(self, episodes: Sequence[Episode]) -> list[Reply | Stop]:
        """Answer each episode's observation."""

    def leave(self, episode: Episode) -> None:
        """Forget an episode that has ended; a policy with tokens puts its traces on record."""
