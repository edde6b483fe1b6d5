"""An environment's actions as the tools of MCP (Model Context Protocol)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym_envs.actions import ActionVerb
from agentgym_envs.core import TextEnv
from agentgym_envs.errors import InvalidAction
from wrappers.serving.endpoints import without_fraction

TYPES = ("list_tools", "call_tool")
"""The types of actions that ask for tools, in a step."""

_RESERVED = ("reset", "step", "state", "close")
"""Names that OpenEnv keeps for itself. A verb of such a name is called `do_close`."""


class ToolError(ValueError):
    """A tool cannot be called so. `kind` is OpenEnv's `error_type`."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


def list_tools(env: TextEnv, *, schema_key: str) -> list[dict[str, Any]]:
    """Return the tools of an environment.

    `schema_key` is `"inputSchema"` in MCP, and `"input_schema"` in an observation of OpenEnv.
    """
    return [
        {"name": _tool_name(v), "description": v.description, schema_key: _schema(v)}
        for v in env.verbs
    ]


def read_tool_call(data: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of `{"tool_name", "arguments"}`, or raise ToolError."""
    name, arguments = data.get("tool_name"), data.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ToolError(
            "invalid_args",
            f"tool_name must be a text and arguments an object, got {name!r:.80} and "
            f"{type(arguments).__name__}",
        )
    return name, arguments


def call_text(env: TextEnv, name: str, arguments: Mapping[str, Any]) -> str:
    """Return a tool call as the text of a policy, in the environment's action format.

    Raises:
        ToolError: there is no such tool, or it does not take the arguments.
    """
    values = {key: without_fraction(value) for key, value in arguments.items()}
    for verb in env.verbs:
        if _tool_name(verb) == name:
            try:
                return env.parser.format(verb.build(values))
            except InvalidAction as error:
                raise ToolError("invalid_args", str(error)) from error
    names = ", ".join(_tool_name(verb) for verb in env.verbs)
    raise ToolError("tool_not_found", f"there is no tool {name!r:.80}; the tools are {names}")


def _tool_name(verb: ActionVerb) -> str:
    return f"do_{verb.name}" if verb.name in _RESERVED else verb.name


def _schema(verb: ActionVerb) -> dict[str, Any]:
    properties: dict[str, dict[str, Any]] = {}
    for name in verb.parameters:
        properties[name] = {"type": "integer" if name in verb.integers else "string"}
        if name in verb.notes:
            properties[name]["description"] = verb.notes[name]
        if name in verb.defaults:
            properties[name]["default"] = verb.defaults[name]
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in verb.parameters if name not in verb.defaults],
        "additionalProperties": False,
    }
