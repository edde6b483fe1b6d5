"""The whole server as one ASGI application, with each environment under its name.

An environment that is the only one is at the root too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from wrappers.serving.agentgym import routes as agentgym
from wrappers.serving.endpoints import Endpoint, Endpoints, as_routes, json_response, read_body
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.gate import Gate
from wrappers.serving.limits import Limits
from wrappers.serving.metrics import Metrics
from wrappers.serving.openenv import http, mcp_routes, socket, tasks
from wrappers.serving.sessions import Sessions

PROTOCOLS = ("openenv", "agentgym")


def make_app(
    environments: Sequence[ServedEnvironment],
    *,
    protocols: Sequence[str] = PROTOCOLS,
    limits: Limits | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
) -> Starlette:
    """Return the server.

    Args:
        environments: the served environments.
        protocols: of `PROTOCOLS`.
        limits: None takes the defaults.
        host: the server's address.
        token: the token of every client; None needs none.
    """
    limits = limits or Limits()
    metrics = Metrics()
    sessions = Sessions(limits, metrics)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        reaper = asyncio.create_task(sessions.reap())
        try:
            yield
        finally:
            reaper.cancel()
            with suppress(asyncio.CancelledError):
                await reaper
            await sessions.close_all("the server stops")

    gate = Middleware(Gate, host=host, token=token, max_body=limits.max_message)
    routes = _routes(environments, protocols, sessions)
    app = Starlette(routes=routes, lifespan=lifespan, middleware=[gate])
    app.state.sessions = sessions
    return app


def _routes(
    environments: Sequence[ServedEnvironment], protocols: Sequence[str], sessions: Sessions
) -> list[BaseRoute]:
    async def metrics(_: Request) -> Response:
        return PlainTextResponse(sessions.metrics.text())

    async def health(_: Request) -> Response:
        return json_response({"status": "healthy"})

    routes: list[BaseRoute] = [
        Route("/metrics", metrics),
        Route("/health", health),
        Route("/list_environments", tasks.list_endpoint(environments)),
    ]
    for environment in environments:
        own = _environment_routes(environment, protocols, sessions)
        routes.append(Mount(f"/{environment.name}", routes=own))
        if len(environments) == 1:
            routes += own
    return routes


def _environment_routes(
    environment: ServedEnvironment, protocols: Sequence[str], sessions: Sessions
) -> list[BaseRoute]:
    endpoints: Endpoints = {}
    routes: list[BaseRoute] = []
    if "openenv" in protocols:
        endpoints = {
            **http.endpoints(sessions, environment),
            **mcp_routes.endpoints(sessions, environment),
            ("GET", "/list_environments"): tasks.list_endpoint([environment]),
        }
        task_routes = as_routes(tasks.endpoints(environment))
        # A client whose address ends in the name asks for the name again.
        routes = [*task_routes, Mount(f"/{environment.name}", routes=task_routes)]
        routes += _sockets(environment, sessions)
    if "agentgym" in protocols:
        endpoints = _both(endpoints, agentgym.endpoints(sessions, environment))
    return [*as_routes(endpoints), *routes]


def _both(openenv: Endpoints, originals: Endpoints) -> Endpoints:
    """Return the endpoints of both protocols, which share some addresses."""
    shared = {
        key: _by_content(openenv[key], endpoint)
        for key, endpoint in originals.items()
        if key in openenv
    }
    return {**openenv, **originals, **shared}


def _by_content(openenv: Endpoint, original: Endpoint) -> Endpoint:
    """Return an endpoint that asks the protocol whose request it is."""

    async def endpoint(request: Request) -> Response:
        try:
            is_original = not agentgym.KEYS.isdisjoint(await read_body(request))
        except ValueError:
            is_original = False
        return await (original if is_original else openenv)(request)

    return endpoint


def _sockets(environment: ServedEnvironment, sessions: Sessions) -> list[BaseRoute]:
    async def frames(connection: WebSocket) -> None:
        await socket.serve_frames(connection, sessions, environment)

    async def rpc(connection: WebSocket) -> None:
        await mcp_routes.serve_rpc(connection, sessions, environment)

    return [WebSocketRoute("/ws", frames), WebSocketRoute("/mcp", rpc)]
