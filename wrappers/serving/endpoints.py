"""Tables of endpoints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

Endpoint = Callable[[Request], Awaitable[Response]]
Endpoints = Mapping[tuple[str, str], Endpoint]
"""By method and path."""


def as_routes(endpoints: Endpoints) -> list[BaseRoute]:
    """Return the routes of a table."""
    return [
        Route(path, endpoint, methods=[method]) for (method, path), endpoint in endpoints.items()
    ]
