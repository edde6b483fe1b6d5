"""JSON schemas of the messages, and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_TEXT = {"type": "string"}
_METADATA = {"type": "object", "description": "The turn's info; terminated, truncated, success."}


def schemas() -> dict[str, Any]:
    """Return the schemas of actions, observations and the state.

    The action is the plain one alone, since clients take the one required text for the field to
    fill. MCP's `tools/list` describes the tools.
    """
    return {
        "action": {
            "title": "TextAction",
            "type": "object",
            "properties": {
                "message": {**_TEXT, "description": "What the policy wrote."},
                "metadata": {"type": "object"},
            },
            "required": ["message"],
        },
        "observation": {
            "title": "TextObservation",
            "type": "object",
            "properties": {
                "prompt": {**_TEXT, "description": "The system prompt, at a reset; else empty."},
                "text": {**_TEXT, "description": "What the policy reads."},
                "messages": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "sender_id": {"type": "integer"},
                            "content": _TEXT,
                            "category": _TEXT,
                        },
                    },
                },
                "available_actions": {"type": ["array", "null"], "items": _TEXT},
                "metadata": _METADATA,
                "reward": {"type": ["number", "null"]},
                "done": {"type": "boolean"},
            },
            "required": ["prompt", "text", "messages", "available_actions"],
        },
        "state": {
            "title": "State",
            "type": "object",
            "properties": {
                "episode_id": {"type": ["string", "null"]},
                "step_count": {"type": "integer"},
                "task_id": {"type": ["string", "null"]},
                "is_over": {"type": "boolean"},
            },
        },
    }


def openapi(title: str, paths: Iterable[tuple[str, str]], version: str) -> dict[str, Any]:
    """Return an OpenAPI document that names the endpoints.

    Args:
        title: of the server.
        paths: method and path of each.
        version: of this package.
    """
    described: dict[str, dict[str, Any]] = {}
    for method, path in paths:
        answer = {"responses": {"200": {"description": "as docs/howto/serve.md says"}}}
        described.setdefault(path, {})[method.lower()] = answer
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1.0.0", "x-agentgym-envs": version},
        "paths": described,
    }
