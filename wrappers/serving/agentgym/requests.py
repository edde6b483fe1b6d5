"""Episodes by AgentGym's numbers, and requests read and refused as by its servers."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from agentgym_envs.errors import UnknownTask, described
from wrappers.serving.endpoints import Endpoint, json_response, read_body, whole_number
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.sessions import AtCapacity, Session, Sessions

Fields = dict[str, Any]
"""A request's body or query."""

Answer = Callable[[Fields], Awaitable[Any]]


class Unfit(ValueError):
    """A body without the fields that are asked for."""


class Unknown(ValueError):
    """An episode that does not exist or has ended, with the original's message."""


def answering(answer: Answer, *, error_status: int = 200) -> Endpoint:
    """Return an endpoint that answers `{"error": ...}` with `error_status` where it fails."""

    async def endpoint(request: Request) -> Response:
        try:
            is_query = request.method == "GET"
            fields = dict(request.query_params) if is_query else await read_body(request)
        except ValueError as error:
            return json_response({"detail": str(error)}, 422)
        try:
            return json_response(await answer(fields))
        except Unfit as error:
            return json_response({"detail": str(error)}, 422)
        except AtCapacity as error:
            return json_response({"error": str(error)}, 503)
        except (Unknown, UnknownTask) as error:
            return json_response({"error": str(error)}, error_status)
        except Exception as error:
            return json_response({"error": described(error)}, error_status)

    return endpoint


def saying(value: Any) -> Endpoint:
    """Return an endpoint that always says the same."""

    async def endpoint(_: Request) -> Response:
        return json_response(value)

    return endpoint


def whole(fields: Fields, name: str, default: int | None = None) -> int:
    """Return a field's whole number, the default where it is missing, or raise Unfit."""
    value = fields.get(name, default)
    number = whole_number(value)
    if number is None:
        raise Unfit(f"{name} must be a whole number, got {value!r:.80}")
    return number


def text(fields: Fields, name: str) -> str:
    """Return a field's text, or raise Unfit."""
    value = fields.get(name)
    if not isinstance(value, str):
        raise Unfit(f"{name} must be a text, got {value!r:.80}")
    return value


@dataclass
class Episode:
    """A session and its last answer, by its number and its place among the server's episodes."""

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

    Numbers count up from a random one, not from 0 as the original's: a number from before a restart
    of the server would name another client's environment.
    """

    sessions: Sessions
    environment: ServedEnvironment
    _first: int = field(default_factory=lambda: secrets.randbelow(1 << 30))
    _places: Iterator[int] = field(default_factory=count)
    _open: dict[int, Episode] = field(default_factory=dict)

    async def create(self) -> Episode:
        """Open a session under the next number. Raises as `Sessions.open`."""
        session = await self.sessions.open(self.environment)
        place = next(self._places)
        episode = Episode(self._first + place, place, session)
        self._open[episode.number] = episode
        session.ended.add_done_callback(lambda _: self._open.pop(episode.number, None))
        return episode

    def get(self, fields: Fields, name: str) -> Episode:
        """Return the episode whose number is in a request's field, or raise Unknown."""
        number = whole(fields, name)
        episode = self._open.get(number)
        if episode is None:
            raise Unknown(f"The id {number} is not valid.")
        episode.session.touch()
        return episode

    async def close(self, number: int) -> bool:
        """Close an episode's session, and return whether there was one."""
        episode = self._open.get(number)
        if episode is None:
            return False
        await self.sessions.close(episode.session, "the client closed it")
        return True
