"""OpenEnv's reset, step and state in a session, over any transport."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from agentgym_envs.core.outcome import INFO_KEYS, UNSCORED_KEY
from wrappers.serving.endpoints import whole_number, without_fraction
from wrappers.serving.openenv.tools import TYPES, ToolError, call_text, list_tools, read_tool_call
from wrappers.serving.sessions import Session

_METADATA = (*INFO_KEYS, UNSCORED_KEY)
_OWN_OPTIONS = ("seed", "episode_id", "split", "index")


class NotValid(ValueError):
    """A client's data of the wrong form. The message names the right one."""


async def reset(session: Session, data: Mapping[str, Any]) -> dict[str, Any]:
    """Begin an episode.

    Args:
        session: the session.
        data: `seed`, `episode_id`, `task_id` or `split` and `index`, and the environment's other
            reset options.

    Returns:
        observation, reward, done and metadata of the message.

    Raises:
        NotValid: an option is unknown or has no such value.
        EnvFailure: the environment's machinery broke.
    """
    sample = session.environment.sample
    allowed = (*_OWN_OPTIONS, *sample.reset_options)
    unknown = sorted(set(data) - set(allowed))
    if unknown:
        raise NotValid(f"unknown reset options {unknown}; allowed: {', '.join(allowed)}")
    seed, episode_id = whole_number(data.get("seed")), data.get("episode_id")
    if data.get("seed") is not None and (seed is None or seed < 0):
        raise NotValid(f"seed must be a whole number >= 0 or null, got {data['seed']!r:.80}")
    if not isinstance(episode_id, str | None):
        raise NotValid(f"episode_id must be a text or null, got {episode_id!r:.80}")
    options = {
        key: without_fraction(value) for key, value in data.items() if key not in _OWN_OPTIONS
    }
    try:
        if data.get("split") is not None or data.get("index") is not None:
            options["task_id"] = _placed_task(session, data)
        observation, info = await session.reset(seed=seed, options=options)
    except (ValueError, TypeError) as error:
        raise NotValid(str(error)) from error
    session.episode_id = episode_id or secrets.token_urlsafe(8)
    return _answer(observation, None, info, prompt=sample.system_prompt)


async def step(session: Session, data: Mapping[str, Any]) -> dict[str, Any]:
    """Play an action, `{"message": text}` or a call of a tool, and return as `reset`.

    Raises:
        NotValid: it is no action.
        ResetNeeded: the episode is over or has not begun.
        EnvFailure: the environment's machinery broke.
    """
    kind = data.get("type")
    if kind in TYPES and "message" not in data:
        return await _step_tool(session, data)
    unknown = sorted(set(data) - {"message", "metadata", "type"})
    if unknown or not isinstance(data.get("message"), str):
        got = f"unknown fields {unknown}" if unknown else f"message {data.get('message')!r:.80}"
        raise NotValid(
            f'an action is {{"message": <text>}}, {{"type": "list_tools"}} or {{"type": '
            f'"call_tool", "tool_name": <text>, "arguments": {{...}}}}; got {got}'
        )
    observation, reward, terminated, truncated, info = await session.step(data["message"])
    return _answer(observation, reward, info, terminated=terminated, truncated=truncated)


def state(session: Session) -> dict[str, Any]:
    """Return OpenEnv's state: the episode and its number of steps."""
    info = session.info or {}
    return {
        "episode_id": session.episode_id,
        "step_count": session.turns,
        "task_id": info.get("task_id"),
        "is_over": session.is_over,
    }


async def _step_tool(session: Session, data: Mapping[str, Any]) -> dict[str, Any]:
    if data["type"] == "list_tools":
        tools = list_tools(session.environment.sample, schema_key="input_schema")
        return _wire({"tools": tools}, 0.0, False, {})
    try:
        name, arguments = read_tool_call(data)
        text = call_text(session.environment.sample, name, arguments)
    except ToolError as error:
        raised = {"error_type": error.kind, "message": str(error)}
        called = {"tool_name": data.get("tool_name"), "result": None, "error": raised}
        return _wire(called, 0.0, False, {"is_valid_action": False})
    observation, reward, terminated, truncated, info = await session.step(text)
    answer = _answer(observation, reward, info, terminated=terminated, truncated=truncated)
    answer["observation"] |= {"tool_name": name, "result": observation, "error": None}
    return answer


def _placed_task(session: Session, data: Mapping[str, Any]) -> str:
    split, index = data.get("split"), whole_number(data.get("index"))
    if data.get("task_id") is not None:
        raise NotValid("reset takes task_id, or split and index; got both, leave one of them out")
    if not isinstance(split, str) or index is None:
        raise NotValid(
            f"split and index come together, a text and a whole number; got {split!r:.80} and "
            f"{data.get('index')!r:.80}"
        )
    return session.environment.task_id(split, index)


def _answer(
    text: str,
    reward: float | None,
    info: Mapping[str, Any],
    *,
    prompt: str = "",
    terminated: bool = False,
    truncated: bool = False,
) -> dict[str, Any]:
    metadata = {key: info[key] for key in _METADATA if key in info}
    metadata |= {"terminated": terminated, "truncated": truncated}
    observation = {
        "prompt": prompt,
        "text": text,
        "messages": [{"sender_id": -1, "content": text, "category": "MESSAGE"}],
        "available_actions": info.get("available_actions"),
    }
    return _wire(observation, reward, terminated or truncated, metadata)


def _wire(
    observation: dict[str, Any], reward: float | None, done: bool, metadata: dict[str, Any]
) -> dict[str, Any]:
    return {
        "observation": {**observation, "metadata": metadata},
        "reward": reward,
        "done": done,
        **({"metadata": metadata} if metadata else {}),
    }
