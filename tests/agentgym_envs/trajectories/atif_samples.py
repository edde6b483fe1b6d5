"""ATIF documents of other agents, written by hand, and the check of our own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentgym_envs import Trajectory
from agentgym_envs.trajectories.atif import to_atif, to_line
from agentgym_envs.trajectories.atif_reader import from_atif


def valid(document: Any) -> dict[str, Any]:
    """Return a document that the package `atif` accepts, as its JSON is read."""
    package = pytest.importorskip("atif", reason="needs the dev extra")
    read: dict[str, Any] = json.loads(json.dumps(document))
    package.Trajectory.model_validate(read)
    return read


def there_and_back(episode: Trajectory) -> Trajectory:
    """Return an episode that was written as ATIF, which the package accepts, and read again."""
    line = to_line(to_atif(episode, trajectory_id="one", agent_version="1"))
    (read,) = from_atif(valid(json.loads(line)))
    return read


def document(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a document of the steps, which are numbered."""
    agent = {"name": "harbor-agent", "version": "1.0.0", "model_name": "some-model"}
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    return {"schema_version": "ATIF-v1.7", "agent": agent, "steps": numbered, **fields}


def user(message: Any, **fields: Any) -> dict[str, Any]:
    return {"source": "user", "message": message, **fields}


def system(message: Any, **fields: Any) -> dict[str, Any]:
    return {"source": "system", "message": message, **fields}


def agent(message: Any, *results: Any, **fields: Any) -> dict[str, Any]:
    """Return an agent's step with the contents of its results."""
    step = {"source": "agent", "message": message, **fields}
    if results:
        step["observation"] = {"results": [{"content": result} for result in results]}
    return step


def call(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": f"call_{number}", "function_name": name, "arguments": arguments}


def part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


IMAGE = {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}
