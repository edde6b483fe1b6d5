"""Reads the requests of AgentGym's clients, and answers mistakes as its servers do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from agentgym_envs.errors import UnknownTask, described
from wrappers.serving.agentgym.episodes import Episode, Episodes
from wrappers.serving.endpoints import Endpoint
from wrappers.serving.json_text import json_response, read_body, whole_number
from wrappers.serving.sessions import AtCapacity

Answer = Callable[[dict[str, Any]], Awaitable[Any]]
"""Answers what a request holds: the fields of its body, or those of its query."""


class Unfit(ValueError):
    """A body without the fields that are asked for."""


class Unknown(ValueError):
    """An episode that does not exist or has ended, with the original's message."""


def answering(answer: Answer, *, error_status: int = 200) -> Endpoint:
    """Return an endpoint that answers `{"error": ...}` where something goes wrong.

    Args:
        answer: what a request is answered.
        error_status: the HTTP status of such an answer.
    """

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


def whole(fields: dict[str, Any], name: str, default: int | None = None) -> int:
    """Return a field that holds a whole number.

    Raises:
        Unfit: it holds something else, or is missing without a default.
    """
    value = fields.get(name, default)
    number = whole_number(value)
    if number is None:
        raise Unfit(f"{name} must be a whole number, got {value!r:.80}")
    return number


def text(fields: dict[str, Any], name: str) -> str:
    """Return a field that holds a text.

    Raises:
        Unfit: it holds something else.
    """
    value = fields.get(name)
    if not isinstance(value, str):
        raise Unfit(f"{name} must be a text, got {value!r:.80}")
    return value


def episode_of(episodes: Episodes, fields: dict[str, Any], name: str = "id") -> Episode:
    """Return the episode that a request names.

    Raises:
        Unknown: there is none by that number.
    """
    number = whole(fields, name)
    episode = episodes.get(number)
    if episode is None:
        raise Unknown(f"The id {number} is not valid.")
    return episode
