"""An OpenEnv server's description of its environment: actions, tasks, prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.errors import EnvFailure
from agentgym_envs.remote.action_forms import ActionForm, is_mcp_tool_schema, read_form, read_tools
from agentgym_envs.remote.answers import Answer, read_answer
from agentgym_envs.remote.http import JsonServer
from agentgym_envs.remote.task_lists import ServerTasks, read_tasks
from agentgym_envs.remote.websocket import Refusal, Session

_LIST_TOOLS = {"jsonrpc": "2.0", "method": "tools/list", "params": {}, "id": 1}


@dataclass(frozen=True)
class Card:
    """The description of a server's environment.

    Attributes:
        description: of the environment, for the policy.
        source: names the environment and its version.
        form: what its actions are made of.
        tasks: its tasks.
        first: the answer to a first reset, which shows what observations hold.
        max_turns: its own turn limit; None where it names none.
        action_format: by which it reads completions itself; None where it names none.
    """

    description: str
    source: str
    form: ActionForm
    tasks: ServerTasks
    first: Answer
    max_turns: int | None
    action_format: str | None


def read_card(http: JsonServer, session: Session, *, name: str | None) -> Card:
    """Ask a server for its description, by a session that is reset once.

    Args:
        http: asks it over HTTP.
        session: a session with it.
        name: what stands in front of task ids; None takes the server's.

    Raises:
        EnvFailure: it does not answer, or not as OpenEnv's servers do.
    """
    metadata = _object(http, "/metadata")
    schema = _object(http, "/schema").get("action")
    own_name = _own_name(http, metadata)
    tasks = read_tasks(http, own_name, name)
    any_task = next(iter(tasks.tasks.values()))
    try:
        first = read_answer(session.ask("reset", any_task.reset), http.url)
    except Refusal as error:
        raise EnvFailure(f"the server {http.url} failed: it refuses a reset: {error}") from error
    tools = read_tools(_listed_tools(session)) if is_mcp_tool_schema(schema) else []
    limit = metadata.get("max_turns")
    reads = metadata.get("action_format")
    return Card(
        description=str(metadata.get("description") or ""),
        source=str(metadata.get("source") or f"openenv:{own_name}/{metadata.get('version') or 0}"),
        form=read_form(schema, tools),
        tasks=tasks,
        first=first,
        max_turns=limit if isinstance(limit, int) and limit > 0 else None,
        action_format=reads if reads in ACTION_FORMATS else None,
    )


def _object(http: JsonServer, path: str) -> dict[str, Any]:
    """Return an object that a server may have, or an empty one."""
    value = http.optional("GET", path)
    return value if isinstance(value, dict) else {}


def _own_name(http: JsonServer, metadata: Mapping[str, Any]) -> str:
    value = http.optional("GET", "/list_environments")
    listed = value if isinstance(value, list) else []
    return str(next(iter(listed), metadata.get("name") or "openenv"))


def _listed_tools(session: Session) -> Any:
    """Return the server's MCP tools, or nothing where it has no MCP."""
    try:
        answer = session.ask("mcp", _LIST_TOOLS)
    except Refusal:
        return None
    return (answer.get("result") or {}).get("tools")
