"""Turns a policy's answers into the actions of an OpenEnv server.

An action is one text field, the call of a tool, or several fields, which are called like a tool.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentgym_envs.actions import ActionParser, ActionVerb, ReactParser, make_parser
from agentgym_envs.actions.calls import read_call
from agentgym_envs.actions.compat import StrippedTextParser
from agentgym_envs.actions.literals import short_name
from agentgym_envs.actions.verbs import shown
from agentgym_envs.actions.wrapping import last_labelled
from agentgym_envs.errors import InvalidAction

_BASE_FIELDS = ("metadata",)
_CALL_FIELDS = {"tool_name", "arguments"}
STEP = "act"
"""The name of an action with several fields."""
VERBS = (ActionVerb(STEP, "{text}", "Send a text to the environment.", free_text=("text",)),)


class ActionForm(Protocol):
    """The parts of a server's actions."""

    @property
    def default_format(self) -> str:
        """The action format where none is asked for."""

    @property
    def verbs(self) -> tuple[ActionVerb, ...]:
        """The functions, for who calls them as tools."""

    def parser(self, action_format: str) -> ActionParser:
        """Return the parser of completions, or raise ValueError for an impossible format."""

    def payload(self, action: str) -> dict[str, Any]:
        """Return the data of a step for a plain action."""


@dataclass(frozen=True)
class TextForm:
    """One field that holds the text."""

    name: str
    default_format: str = "plain"
    verbs: tuple[ActionVerb, ...] = VERBS

    def parser(self, action_format: str) -> ActionParser:
        """Return the parser of completions."""
        if action_format == "plain":
            return StrippedTextParser()
        return ReactTextParser() if action_format == "react" else make_parser(action_format, VERBS)

    def payload(self, action: str) -> dict[str, Any]:
        """Return the field."""
        return {self.name: action}


@dataclass(frozen=True)
class ReactTextParser(ReactParser):
    """`Thought:` and `Action:`, of which the action is sent as it is written."""

    def parse(self, completion: str) -> str:
        """Return the text after the last `Action:`, up to the end of its line or code block.

        Raises:
            InvalidAction: there is no action.
        """
        action = last_labelled(completion)
        if not action:
            raise InvalidAction("There is no action in your answer. " + self.instructions)
        return action


@dataclass(frozen=True)
class Tool:
    """A function that a policy may call.

    Attributes:
        name: its name.
        description: what it does.
        schema: the JSON schema of its arguments.
    """

    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def verb(self) -> ActionVerb:
        """The tool with the arguments that it must be given."""
        kinds = {
            name: _kind(part)
            for name, part in _fields(self.schema).items()
            if name in self.schema.get("required", ()) and name.isidentifier()
        }
        return ActionVerb(
            self.name,
            " ".join([self.name, *(f"{{{name}}}" for name in kinds)]),
            self.description or self.name,
            integers=tuple(name for name, kind in kinds.items() if kind == "integer"),
            free_text=tuple(name for name, kind in kinds.items() if kind != "integer"),
        )

    @property
    def line(self) -> str:
        """The tool as the policy reads it."""
        required = self.schema.get("required", ())
        arguments = ", ".join(
            f"{name}: {_kind(part)}{'' if name in required else ' (may be left out)'}"
            for name, part in _fields(self.schema).items()
        )
        return f"- {self.name}({arguments}): {self.description}".rstrip(": ")


@dataclass(frozen=True)
class CallForm:
    """Tools, or an action of several fields, which are the arguments of one function.

    Attributes:
        tools: the functions.
        is_mcp: they are MCP tools.
    """

    tools: Sequence[Tool]
    is_mcp: bool
    default_format: str = "function_call"

    @property
    def verbs(self) -> tuple[ActionVerb, ...]:
        """The tools, as far as they can be called from Python."""
        return tuple(tool.verb for tool in self.tools if tool.name.isidentifier()) or VERBS

    def parser(self, action_format: str) -> ActionParser:
        """Return the parser of completions.

        Raises:
            ValueError: the format is not `"function_call"`.
        """
        if action_format == "function_call":
            return ToolCallParser(self.tools)
        raise ValueError(
            f"action_format {action_format!r} has no functions, and the server's actions are calls "
            f"of {', '.join(tool.name for tool in self.tools)}; pass --action_format function_call"
        )

    def payload(self, action: str) -> dict[str, Any]:
        """Return the call."""
        call = json.loads(action)
        if not self.is_mcp:
            return dict(call["arguments"])
        return {"type": "call_tool", "tool_name": call["name"], "arguments": call["arguments"]}


@dataclass(frozen=True)
class ToolCallParser:
    """One JSON object `{"name": ..., "arguments": {...}}`, which is the plain action too."""

    tools: Sequence[Tool]
    instructions: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "instructions",
            'Answer with one JSON object {"name": <function>, "arguments": {<name>: <value>}} '
            "and nothing else. The functions:\n" + "\n".join(tool.line for tool in self.tools),
        )

    def parse(self, completion: str) -> str:
        """Return the call in JSON.

        Raises:
            InvalidAction: there is no call of one of the tools.
        """
        names = [tool.name for tool in self.tools]
        call = read_call(completion, names)
        name = call.name if call.name in names else short_name(call.name)
        if name not in names:
            raise InvalidAction(
                f"There is no function {shown(call.name)}; the functions are {', '.join(names)}."
            )
        if call.positional:
            raise InvalidAction(f"{name} takes its arguments by their names.")
        return json.dumps({"name": name, "arguments": dict(call.arguments)}, ensure_ascii=False)

    def format(self, action: str, thought: str = "") -> str:
        """Return the plain action, a call already."""
        return action


class ServersParser:
    """Sends completions as they are, for a server that reads them by a format of its own.

    Args:
        action_format: the server's.
    """

    instructions = ""

    def __init__(self, action_format: str) -> None:
        self._parser = make_parser(action_format, ())

    def parse(self, completion: str) -> str:
        """Return the completion."""
        return completion

    def format(self, action: str, thought: str = "") -> str:
        """Write a plain action as the server reads it."""
        return self._parser.format(action, thought)


def is_mcp_tool_schema(schema: Any) -> bool:
    """Return whether actions by this schema are calls of MCP tools, as far as it tells."""
    fields = set(_fields(schema))
    return "message" not in fields and (not fields or fields >= _CALL_FIELDS)


def read_form(schema: Any, tools: Sequence[Tool]) -> ActionForm:
    """Return the parts of actions.

    Args:
        schema: of the actions, in JSON; what is not readable counts as `{"message": text}`.
        tools: the server's MCP tools.
    """
    fields = _fields(schema)
    if "message" in fields:
        return TextForm("message")
    if is_mcp_tool_schema(schema) and tools:
        return CallForm(tools, is_mcp=True)
    texts = [name for name, part in fields.items() if _kind(part) == "string"]
    required = [name for name in texts if name in schema.get("required", ())]
    if len(fields) == 1 and texts:
        return TextForm(texts[0])
    if len(required) == 1 and set(schema.get("required", ())) == set(required):
        return TextForm(required[0])
    if fields:
        return CallForm([Tool(STEP, str(schema.get("description", "")), schema)], is_mcp=False)
    return TextForm("message")


def read_tools(listed: Any) -> list[Tool]:
    """Return the tools of MCP's list."""
    return [
        Tool(
            str(tool["name"]),
            str(tool.get("description") or ""),
            tool.get("inputSchema") or tool.get("input_schema") or {},
        )
        for tool in listed or ()
        if isinstance(tool, Mapping) and "name" in tool
    ]


def _fields(schema: Any) -> dict[str, Any]:
    """Return the fields of a schema, those of its alternatives too, but for OpenEnv's own."""
    if not isinstance(schema, Mapping):
        return {}
    fields = dict(schema.get("properties") or {})
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        fields |= _fields(_resolved(part, schema))
    is_call = set(fields) >= _CALL_FIELDS
    return {
        name: part
        for name, part in fields.items()
        if name not in _BASE_FIELDS and (is_call or "const" not in part)
    }


def _resolved(part: Any, schema: Mapping[str, Any]) -> Any:
    name = part.get("$ref", "").rpartition("/")[2] if isinstance(part, Mapping) else ""
    return schema.get("$defs", {}).get(name, part)


def _kind(part: Any) -> str:
    if not isinstance(part, Mapping):
        return "any"
    kinds = [part, *part.get("anyOf", ())]
    names = [kind["type"] for kind in kinds if isinstance(kind.get("type"), str)]
    named = [name for name in names if name != "null"]
    if "enum" in part:
        return "one of " + ", ".join(map(json.dumps, part["enum"]))
    return named[0] if named else "any"
