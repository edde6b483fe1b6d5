"""OpenEnv over HTTP: an environment's description, and requests outside of a session."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from gymnasium.error import ResetNeeded
from starlette.requests import Request
from starlette.responses import Response

from agentgym_envs import __version__
from agentgym_envs.errors import described
from wrappers.serving.endpoints import Endpoints, json_response, read_body
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.openenv import play
from wrappers.serving.openenv.play import NotValid
from wrappers.serving.sessions import AtCapacity, Session, Sessions

Play = Callable[[Session, dict[str, Any]], Awaitable[dict[str, Any]]]

_SCHEMAS = json.loads(Path(__file__).with_name("schemas.json").read_text("utf-8"))
"""JSON schemas of actions, observations and the state.

The action is the plain one alone, since clients take the one required text for the field to fill.
MCP's `tools/list` describes the tools.
"""


def endpoints(sessions: Sessions, environment: ServedEnvironment) -> Endpoints:
    """Return OpenEnv's endpoints, without its tasks and its tools.

    Episodes are played over the WebSocket: here each request has an environment of its own, as in
    OpenEnv.
    """

    async def health(_: Request) -> Response:
        return json_response({"status": "healthy"})

    async def metadata(_: Request) -> Response:
        return json_response(_metadata(environment))

    async def schema(_: Request) -> Response:
        return json_response(_SCHEMAS)

    async def document(_: Request) -> Response:
        return json_response(_openapi(environment.env_id, table))

    async def state(_: Request) -> Response:
        return json_response({"episode_id": None, "step_count": 0})

    async def reset(request: Request) -> Response:
        return await _once(request, sessions, environment, play.reset)

    async def step(request: Request) -> Response:
        return await _once(request, sessions, environment, _step)

    table = {
        ("GET", "/health"): health,
        ("GET", "/metadata"): metadata,
        ("GET", "/schema"): schema,
        ("GET", "/openapi.json"): document,
        ("GET", "/state"): state,
        ("POST", "/reset"): reset,
        ("POST", "/step"): step,
    }
    return table


async def _step(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    action = body.get("action")
    if not isinstance(action, dict):
        raise NotValid(f'the body is {{"action": {{...}}}}, got the keys {sorted(body)!r:.80}')
    return await play.step(session, action)


async def _once(
    request: Request, sessions: Sessions, environment: ServedEnvironment, answer: Play
) -> Response:
    """Answer a request in a session that is closed after it."""
    try:
        body = await read_body(request)
    except ValueError as error:
        return json_response({"detail": str(error)}, 422)
    try:
        session = await sessions.open(environment)
    except AtCapacity as error:
        return json_response({"detail": str(error)}, 503)
    except Exception as error:
        return json_response({"detail": described(error)}, 500)
    try:
        return json_response({"metadata": None, **await answer(session, body)})
    except NotValid as error:
        return json_response({"detail": str(error)}, 422)
    except ResetNeeded as error:
        detail = f"{error}; requests share no episode, play one over the WebSocket /ws"
        return json_response({"detail": detail}, 409)
    except Exception as error:
        return json_response({"detail": described(error)}, 500)
    finally:
        await sessions.close(session, "one request")


def _metadata(environment: ServedEnvironment) -> dict[str, Any]:
    sample = environment.sample
    return {
        "name": environment.name,
        "description": (type(sample).__doc__ or environment.env_id).strip().splitlines()[0],
        "readme_content": sample.system_prompt,
        "version": __version__,
        "author": None,
        "documentation_url": None,
        "env_id": environment.env_id,
        "source": sample.source,
        "action_format": sample.action_format,
        "max_turns": sample.max_turns,
    }


def _openapi(title: str, paths: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return an OpenAPI document of the endpoints, given by method and path."""
    described: dict[str, dict[str, Any]] = {}
    for method, path in paths:
        answer = {"responses": {"200": {"description": "as docs/howto/serve.md says"}}}
        described.setdefault(path, {})[method.lower()] = answer
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1.0.0", "x-agentgym-envs": __version__},
        "paths": described,
    }
