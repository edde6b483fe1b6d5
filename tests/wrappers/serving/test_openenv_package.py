"""OpenEnv's own clients and its validator; `make test-partner NAME=serve` installs them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from tests.wrappers.serving.clients import serving
from wrappers.serving.app import make_app
from wrappers.serving.environments import served

pytest.importorskip("openenv", reason="needs openenv: make test-partner NAME=serve")

import fastmcp
import fastmcp.exceptions
from openenv.core import GenericEnvClient
from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.mcp_client import MCPToolClient

pytestmark = pytest.mark.openenv

NEEDS_JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="no Java on PATH")
SCENARIOS = (
    *("ALFWorld", "BabyAI", "TextCraft", "SciWorld", "SearchQA", "SQL", "WebArena", "WebShop"),
    *("Maze", "Wordle"),
)
NAMES = [pytest.param(name, marks=NEEDS_JAVA) if name == "SciWorld" else name for name in SCENARIOS]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = make_app(served([f"agentgym/{name}-v0" for name in SCENARIOS], {}))
    with serving(app) as url:
        yield url


def experts_episodes(env: Any, count: int) -> Iterator[tuple[str, list[str]]]:
    """Yield tasks that the expert solves within the turns, and what it does."""
    game = env.unwrapped
    ids = game.task_ids("test")
    for task_id in ids[:: max(1, len(ids) // 10)]:
        _, info = env.reset(options={"task_id": task_id})
        actions = []
        for action in game.expert():
            actions.append(action)
            *_, info = env.step(action)
        if info["success"]:
            yield task_id, actions
            count -= 1
        if not count:
            return
    raise AssertionError(f"too few of {len(ids)} tasks are solved")


@pytest.mark.parametrize("name", NAMES)
def test_the_generic_client_plays_the_experts_episodes(url: str, name: str) -> None:
    env = gym.make(f"agentgym/{name}-v0")
    game: Any = env.unwrapped
    with GenericEnvClient(base_url=f"{url}/{name.lower()}").sync() as client:
        for task_id, actions in experts_episodes(env, 3):
            observation, _ = env.reset(options={"task_id": task_id})
            result = client.reset(task_id=task_id)
            assert result.observation["text"] == observation
            assert result.observation["prompt"] == game.system_prompt
            total = result.metadata["score"]  # SciWorld's rooms may be worth points
            for action in actions:
                observation, reward, *_ = env.step(action)
                result = client.step({"message": action})
                assert (result.observation["text"], result.reward) == (observation, reward)
                total += reward
            assert result.done
            assert result.metadata["success"] is True
            assert total == pytest.approx(1.0)
            assert client.state()["task_id"] == task_id
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_tool_client_plays_the_experts_episodes(url: str, name: str) -> None:
    env = gym.make(f"agentgym/{name}-v0", action_format="function_call")
    with MCPToolClient(base_url=f"{url}/{name.lower()}").sync() as client:
        tools = {tool.name for tool in client.list_tools()}
        for task_id, actions in experts_episodes(env, 2):
            total = client.reset(task_id=task_id).metadata["score"]
            for call in map(json.loads, actions):
                tool = call["name"] if call["name"] in tools else f"do_{call['name']}"
                step = CallToolAction(tool_name=tool, arguments=call["arguments"])
                result = client.step(step)
                assert result.observation.error is None
                total += result.reward
            assert result.done
            assert total == pytest.approx(1.0)
    env.close()


def test_the_tool_client_reads_what_a_tool_answers(url: str) -> None:
    with MCPToolClient(base_url=f"{url}/textcraft").sync() as client:
        client.reset(task_id="textcraft_0")
        assert client.call_tool("inventory") == "Inventory: empty"
        with pytest.raises(RuntimeError, match="there is no tool 'fly'"):
            client.call_tool("fly")


def test_a_client_of_mcp_alone_begins_and_plays(url: str) -> None:
    async def play() -> tuple[list[str], str, Any]:
        async with fastmcp.Client(f"{url}/textcraft/mcp") as client:
            names = [tool.name for tool in await client.list_tools()]
            begun = await client.call_tool("begin_episode", {"task_id": "textcraft_0"})
            played = await client.call_tool("inventory", {})
            with pytest.raises(fastmcp.exceptions.ToolError, match="moon"):
                await client.call_tool("get", {"count": 1, "item": "moon"})
            return names, begun.content[0].text, played

    names, begun, played = asyncio.run(play())
    assert names == ["begin_episode", "get", "craft", "inventory"]
    assert "Goal: craft acacia planks." in begun
    assert played.content[0].text == "Inventory: empty"
    assert played.structured_content["done"] is False


def test_errors_are_raised_by_the_client_and_the_session_goes_on(url: str) -> None:
    with GenericEnvClient(base_url=f"{url}/textcraft").sync() as client:
        with pytest.raises(RuntimeError, match="EXECUTION_ERROR"):
            client.step({"message": "inventory"})
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            client.reset(task_id="textcraft_x")
        client.reset(task_id="textcraft_0")
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            client.step({"text": "inventory"})
        assert client.step({"message": "inventory"}).reward == 0.0


def test_a_client_shows_its_token(url: str) -> None:
    app = make_app(served(["agentgym/TextCraft-v0"], {}), token="guess-me", host="0.0.0.0")
    with serving(app, "0.0.0.0") as address:
        address = address.replace("0.0.0.0", "127.0.0.1")
        headers = {"Authorization": "Bearer guess-me"}
        with GenericEnvClient(base_url=address, headers=headers).sync() as client:
            assert client.reset(task_id="textcraft_0").observation["text"]


def test_the_validator_passes_every_criterion(url: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "openenv.cli", "validate", "--url", f"{url}/textcraft", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    report = json.loads(result.stdout)
    assert report["passed"] is True, report
    assert [entry["id"] for entry in report["criteria"] if not entry["passed"]] == []
    assert len(report["criteria"]) == 6
    assert report["mode"] == "simulation"
