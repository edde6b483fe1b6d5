"""Tables of endpoints, and JSON at the server's border."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

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


def read_object(text: str | bytes) -> dict[str, Any]:
    """Parse a JSON object, or raise ValueError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is not JSON ({error}); send one JSON object") from None
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    return value


async def read_body(request: Request) -> dict[str, Any]:
    """Parse a request's JSON object, an empty one for an empty body, or raise ValueError."""
    body = await request.body()
    return read_object(body) if body.strip() else {}


def whole_number(value: Any) -> int | None:
    """Return the int of `3`, `3.0` or `"3"`, None for all else.

    The servers whose protocols are spoken here take all three.
    """
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 19:
        return int(value)
    value = without_fraction(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def without_fraction(value: Any) -> Any:
    """Return `3.0` as `3`, the same number in JSON, and all else unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with JSON, in ASCII: a text may hold half of a surrogate pair."""
    return Response(json.dumps(value), status, headers, media_type="application/json")
