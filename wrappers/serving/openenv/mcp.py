"""MCP's JSON-RPC over a session: `initialize`, `tools/list` and `tools/call`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.error import ResetNeeded

from agentgym_envs import __version__
from agentgym_envs.errors import EnvFailure
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.openenv.tools import ToolError, call_text, list_tools
from wrappers.serving.sessions import Session

PROTOCOL = "2025-06-18"
"""The version of MCP where the client names none."""

INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, BROKEN = -32600, -32601, -32602, -32603


class RpcError(Exception):
    """An error of JSON-RPC 2.0.

    Attributes:
        code: its number.
    """

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


async def answer_rpc(session: Session, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request in a session."""
    try:
        method, params = read_request(request)
        result = describe(session.environment, method, params)
        if result is None:
            if method != "tools/call":
                raise unknown_method(method)
            result = await call_tool(session, params)
    except RpcError as error:
        return error_answer(request, error)
    return result_answer(request, result)


def read_request(request: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a request's method and parameters.

    Raises:
        RpcError: it is none.
    """
    method, params = request.get("method"), request.get("params") or {}
    if request.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise RpcError(
            INVALID_REQUEST, 'a request is {"jsonrpc": "2.0", "id": ..., "method": ..., "params"}'
        )
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, f"params must be an object, got {type(params).__name__}")
    return method, params


def describe(
    environment: ServedEnvironment, method: str, params: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Answer what needs no session; None where the method is another one."""
    if method == "initialize":
        return {
            "protocolVersion": str(params.get("protocolVersion") or PROTOCOL),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": environment.name, "version": __version__},
            "instructions": environment.sample.instructions.strip(),
        }
    if method == "tools/list":
        return {"tools": list_tools(environment.sample, schema_key="inputSchema")}
    return {} if method == "ping" else None


async def call_tool(session: Session, params: Mapping[str, Any]) -> dict[str, Any]:
    """Play a call of a tool; an action that is refused is a result, never an error.

    Raises:
        RpcError: it cannot be played.
    """
    name, arguments = params.get("name"), params.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise RpcError(
            INVALID_PARAMS,
            f"tools/call takes name and arguments, got {name!r:.80} and {type(arguments).__name__}",
        )
    try:
        text = call_text(session.environment.sample, name, arguments)
    except ToolError as error:
        if error.kind == "tool_not_found":
            raise RpcError(INVALID_PARAMS, str(error)) from error
        return _content(str(error), is_error=True)
    try:
        observation, reward, terminated, truncated, info = await session.step(text)
    except ResetNeeded as error:
        raise RpcError(INVALID_REQUEST, str(error)) from error
    except EnvFailure as error:
        raise RpcError(BROKEN, str(error)) from error
    result = _content(observation, is_error=not info["is_valid_action"])
    result["structuredContent"] = {
        "result": observation,
        "reward": reward,
        "done": terminated or truncated,
        "success": info["success"],
    }
    return result


def result_answer(request: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer with a result."""
    return {"jsonrpc": "2.0", "id": request.get("id"), "result": result}


def error_answer(request: Mapping[str, Any], error: RpcError) -> dict[str, Any]:
    """Return the answer with an error."""
    return {
        "jsonrpc": "2.0",
        "id": request.get("id"),
        "error": {"code": error.code, "message": str(error)},
    }


def unknown_method(method: str) -> RpcError:
    """Return the error for a method that is not served."""
    return RpcError(
        NO_METHOD,
        f"unknown method {method!r:.80}; served: initialize, ping, tools/list, tools/call",
    )


def _content(text: str, *, is_error: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
