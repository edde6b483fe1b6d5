"""MCP's JSON-RPC over a session: `initialize`, `tools/list` and `tools/call`.

A client of OpenEnv begins episodes by its own reset. Any other client of MCP has a tool for it,
`begin_episode`, which a policy that OpenEnv's clients train never sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.error import ResetNeeded

from agentgym_envs import __version__
from agentgym_envs.errors import EnvFailure, described
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.openenv.play import NotValid, reset
from wrappers.serving.openenv.tools import ToolError, call_text, list_tools
from wrappers.serving.sessions import Session

PROTOCOL = "2025-06-18"
"""The version of MCP where the client names none."""

NO_JSON, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, BROKEN = -32700, -32600, -32601, -32602, -32603

_BEGIN = "begin_episode"
_BEGIN_TOOL = {
    "name": _BEGIN,
    "description": "Begin an episode and read the rules and its task, before anything else.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "task_id": {"type": "string", "description": "Which task; without it one is drawn."},
            "seed": {"type": "integer", "description": "Of the draw."},
        },
        "additionalProperties": False,
    },
}


class RpcError(Exception):
    """An error of JSON-RPC 2.0, with its number."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


async def answer_rpc(
    session: Session, request: Mapping[str, Any], *, begins: bool = False
) -> dict[str, Any]:
    """Answer a request in a session, whose client has the tool `begin_episode` if `begins`."""
    try:
        method, params = read_request(request)
        result = describe(session.environment, method, params, begins=begins)
        if method == "openenv/session/create":
            result = {"session_id": session.id}  # the one that there is
        elif result is None and method == "tools/call":
            result = await call_tool(session, params, begins=begins)
        if result is None:
            raise unknown_method(method)
    except RpcError as error:
        return error_answer(request, error)
    return result_answer(request, result)


def read_request(request: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a request's method and parameters, or raise RpcError."""
    method, params = request.get("method"), request.get("params") or {}
    if request.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise RpcError(
            INVALID_REQUEST, 'a request is {"jsonrpc": "2.0", "id": ..., "method": ..., "params"}'
        )
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, f"params must be an object, got {type(params).__name__}")
    return method, params


def describe(
    environment: ServedEnvironment, method: str, params: Mapping[str, Any], *, begins: bool
) -> dict[str, Any] | None:
    """Answer a method that needs no session, or return None for other methods."""
    if method == "initialize":
        return {
            "protocolVersion": str(params.get("protocolVersion") or PROTOCOL),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": environment.name, "version": __version__},
            "instructions": environment.sample.instructions.strip(),
        }
    if method == "tools/list":
        tools = list_tools(environment.sample, schema_key="inputSchema")
        return {"tools": [_BEGIN_TOOL, *tools] if begins else tools}
    return {} if method == "ping" else None


async def call_tool(
    session: Session, params: Mapping[str, Any], *, begins: bool = False
) -> dict[str, Any]:
    """Play a call of a tool. A refused action is a result, never an error.

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
        if begins and name == _BEGIN:
            return await _begin(session, arguments)
        return await _play(session, name, arguments)
    except ResetNeeded as error:
        raise RpcError(INVALID_REQUEST, str(error)) from error
    except EnvFailure as error:
        raise RpcError(BROKEN, str(error)) from error
    except RpcError:
        raise
    except Exception as error:
        raise RpcError(BROKEN, described(error)) from error


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
    served = "initialize, ping, tools/list, tools/call"
    return RpcError(NO_METHOD, f"unknown method {method!r:.80}; served: {served}")


async def _begin(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        answer = await reset(session, arguments)
    except NotValid as error:
        return _content(str(error), is_error=True)
    observation = answer["observation"]
    return _content(f"{observation['prompt']}\n\n{observation['text']}")


async def _play(session: Session, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        text = call_text(session.environment.sample, name, arguments)
    except ToolError as error:
        if error.kind == "tool_not_found":
            raise RpcError(INVALID_PARAMS, str(error)) from error
        return _content(str(error), is_error=True)
    observation, reward, terminated, truncated, info = await session.step(text)
    result = _content(observation, is_error=not info["is_valid_action"])
    result["structuredContent"] = {
        "observation": observation,
        "reward": reward,
        "done": terminated or truncated,
        "success": info["success"],
    }
    return result


def _content(text: str, *, is_error: bool = False) -> dict[str, Any]:
    # OpenEnv's client takes what stands under "data" for the tool's result.
    return {"content": [{"type": "text", "text": text}], "isError": is_error, "data": text}
