"""Sessions by the numbers that AgentGym counts them with."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.sessions import Session, Sessions


@dataclass
class Episode:
    """A session and its last answer.

    Attributes:
        number: the client's name for it.
        place: how many came before it on this server.
        session: where it is played.
        observation: the last text; empty before the first reset.
        reward: of the last step.
        score: the points so far.
        done: the episode has ended.
    """

    number: int
    place: int
    session: Session
    observation: str = ""
    reward: float = 0
    score: float = 0
    done: bool = False


@dataclass
class Episodes:
    """The sessions of one environment.

    Numbers count up as the original's, but from a random one: a number from before a restart of the
    server would name another client's environment.

    Attributes:
        sessions: of the server.
        environment: what is played.
    """

    sessions: Sessions
    environment: ServedEnvironment
    _first: int = field(default_factory=lambda: secrets.randbelow(1 << 30))
    _places: Iterator[int] = field(default_factory=count)
    _open: dict[int, Episode] = field(default_factory=dict)

    async def create(self) -> Episode:
        """Open a session under the next number.

        Raises:
            AtCapacity: there is no room for another one.
            Exception: what the environment raised when it was made.
        """
        session = await self.sessions.open(self.environment)
        place = next(self._places)
        episode = Episode(self._first + place, place, session)
        self._open[episode.number] = episode
        session.ended.add_done_callback(lambda _: self._open.pop(episode.number, None))
        return episode

    def get(self, number: int) -> Episode | None:
        """Return the episode of this number, or None where the number is not in use."""
        episode = self._open.get(number)
        if episode is not None:
            episode.session.touch()
        return episode

    async def close(self, number: int) -> bool:
        """Close an episode's session, and return whether there was one."""
        episode = self._open.get(number)
        if episode is None:
            return False
        await self.sessions.close(episode.session, "the client closed it")
        return True
