"""MCP over HTTP and over a WebSocket of its own.

Over HTTP a session is named by `params.session_id`, as OpenEnv's clients do, or by the header
`Mcp-Session-Id`, which `initialize` gives to all others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from agentgym_envs.errors import described
from wrappers.serving.endpoints import Endpoints, json_response, read_body, read_object
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.openenv.mcp import (
    BROKEN,
    INVALID_PARAMS,
    NO_JSON,
    RpcError,
    answer_rpc,
    call_tool,
    describe,
    error_answer,
    read_request,
    result_answer,
    unknown_method,
)
from wrappers.serving.openenv.socket import serve
from wrappers.serving.sessions import Session, Sessions

_HEADER = "mcp-session-id"


def endpoints(sessions: Sessions, environment: ServedEnvironment) -> Endpoints:
    """Return the endpoints of JSON-RPC over HTTP and of a session's end. Errors have status 200."""

    async def rpc(request: Request) -> Response:
        body: Mapping[str, Any] = {}
        header = request.headers.get(_HEADER)
        headers: dict[str, str] = {}
        try:
            try:
                body = await read_body(request)
            except ValueError as error:
                raise RpcError(NO_JSON, str(error)) from error
            method, params = read_request(body)
            named = sessions.get(str(params.get("session_id") or header))
            if method.startswith("notifications/"):
                return Response(status_code=202)
            if method == "initialize":
                # Many a client only looks at the tools, and does not wait for a simulator to start.
                headers = {_HEADER: (await _open(sessions, environment, is_lazy=True)).id}
            result = await _result(sessions, environment, method, params, header, named)
        except RpcError as error:
            return json_response(error_answer(body, error))
        return json_response(result_answer(body, result), headers=headers)

    async def end(request: Request) -> Response:
        session = sessions.get(request.headers.get(_HEADER, ""))
        if session is None or session.environment != environment:
            return Response(status_code=404)
        await sessions.close(session, "the client closed it")
        return Response(status_code=204)

    return {("POST", "/mcp"): rpc, ("DELETE", "/mcp"): end}


async def serve_rpc(socket: WebSocket, sessions: Sessions, environment: ServedEnvironment) -> None:
    """Serve JSON-RPC over a WebSocket, in a session of its own."""
    await serve(socket, sessions, environment, _reply)


async def _reply(session: Session, text: str | bytes) -> str:
    try:
        request = read_object(text)
    except ValueError as error:
        return json.dumps(error_answer({}, RpcError(NO_JSON, str(error))))
    answer = await answer_rpc(session, request, begins=True)
    is_notification = "id" not in request and isinstance(request.get("method"), str)
    return "" if is_notification else json.dumps(answer)


async def _result(
    sessions: Sessions,
    environment: ServedEnvironment,
    method: str,
    params: Mapping[str, Any],
    header: str | None,
    session: Session | None,
) -> dict[str, Any]:
    result = describe(environment, method, params, begins=header is not None)
    if result is not None:
        return result
    if method == "openenv/session/create":
        return {"session_id": (await _open(sessions, environment)).id}
    if method not in ("openenv/session/close", "tools/call"):
        raise unknown_method(method)
    if session is None or session.environment != environment:
        raise RpcError(
            INVALID_PARAMS,
            f"there is no session {params.get('session_id') or header!r:.80}; "
            "openenv/session/create opens one, and its session_id goes into params",
        )
    if method == "tools/call":
        session.patience = sessions.limits.idle_timeout
        return await call_tool(session, params, begins=header is not None)
    await sessions.close(session, "the client closed it")
    return {"session_id": session.id, "closed": True}


async def _open(
    sessions: Sessions, environment: ServedEnvironment, *, is_lazy: bool = False
) -> Session:
    """Open a session that is given back soon where its client never plays on it."""
    try:
        session = await sessions.open(environment, is_lazy=is_lazy)
    except Exception as error:
        raise RpcError(BROKEN, described(error)) from error
    session.patience = sessions.limits.short_patience
    return session
