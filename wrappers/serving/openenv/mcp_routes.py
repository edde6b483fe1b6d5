"""MCP over HTTP and over a WebSocket of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from agentgym_envs.errors import described
from wrappers.serving.endpoints import Endpoint
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.json_text import json_response, read_body, read_object
from wrappers.serving.openenv.mcp import (
    BROKEN,
    INVALID_PARAMS,
    INVALID_REQUEST,
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


def endpoint(sessions: Sessions, environment: ServedEnvironment) -> Endpoint:
    """Return what answers JSON-RPC over HTTP, always with status 200."""

    async def rpc(request: Request) -> Response:
        body: Mapping[str, Any] = {}
        try:
            try:
                body = await read_body(request)
            except ValueError as error:
                raise RpcError(INVALID_REQUEST, str(error)) from error
            method, params = read_request(body)
            if body.get("id") is None and method.startswith("notifications/"):
                return Response(status_code=202)
            result = await _result(sessions, environment, method, params)
        except RpcError as error:
            return json_response(error_answer(body, error))
        return json_response(result_answer(body, result))

    return rpc


async def serve_rpc(socket: WebSocket, sessions: Sessions, environment: ServedEnvironment) -> None:
    """Serve JSON-RPC over a WebSocket, in one session, whose first episode begins by itself."""
    await serve(socket, sessions, environment, _reply)


async def _reply(session: Session, text: str | bytes) -> str:
    try:
        request = read_object(text)
    except ValueError as error:
        return json.dumps(error_answer({}, RpcError(INVALID_REQUEST, str(error))))
    return json.dumps(await answer_rpc(session, request))


async def _result(
    sessions: Sessions, environment: ServedEnvironment, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    result = describe(environment, method, params)
    if result is not None:
        return result
    if method == "openenv/session/create":
        return await _create(sessions, environment, params)
    if method not in ("openenv/session/close", "tools/call"):
        raise unknown_method(method)
    session = _session(sessions, environment, params.get("session_id"))
    if method == "tools/call":
        return await call_tool(session, params)
    await sessions.close(session, "the client closed it")
    return {"session_id": session.id, "closed": True}


async def _create(
    sessions: Sessions, environment: ServedEnvironment, params: Mapping[str, Any]
) -> dict[str, Any]:
    try:
        session = await sessions.open(environment)
    except Exception as error:
        raise RpcError(BROKEN, described(error)) from error
    return {"session_id": session.id}


def _session(sessions: Sessions, environment: ServedEnvironment, session_id: Any) -> Session:
    session = sessions.get(session_id) if isinstance(session_id, str) else None
    if session is None or session.environment != environment:
        raise RpcError(
            INVALID_PARAMS,
            f"there is no session {session_id!r:.80}; openenv/session/create opens one, and its "
            "session_id goes into params",
        )
    return session
