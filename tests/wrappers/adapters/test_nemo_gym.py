"""Our environments as a resources server of NeMo-Gym, with its own agent over real HTTP."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from tests.serving import serving
from tests.wrappers.adapters.experts import Expert

pytest.importorskip("nemo_gym", reason="nemo-gym is missing: make test-partner NAME=nemo-gym")

import uvicorn
from fastapi import FastAPI
from nemo_gym import server_utils
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.openai_utils import NeMoGymResponse
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf
from responses_api_agents.gymnasium_agent.app import GymnasiumAgent, GymnasiumAgentRunRequest
from starlette.requests import Request

from wrappers.adapters.nemo_gym import AgentGymServer
from wrappers.serving.sessions import AtCapacity

KWARGS = {"action_format": "react", "max_turns": 20}
TASK = "textcraft_1"
Run = Callable[..., Any]


@pytest.fixture
def environments() -> AgentGymServer:
    config = AgentGymServer.model_fields["config"].annotation(
        host="127.0.0.1", port=0, entrypoint="app.py", name="agentgym", max_sessions=2
    )
    client = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=0),
        global_config_dict=OmegaConf.create({}),
    )
    return AgentGymServer(config=config, server_client=client)


@pytest.fixture
def expert() -> Expert:
    return Expert("agentgym/TextCraft-v0", [TASK], **KWARGS)


def response(text: str) -> dict[str, Any]:
    """What a model server of the Responses API answers."""
    said = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    return {
        "id": "r",
        "object": "response",
        "created_at": 0,
        "model": "expert",
        "output": [{**message, "content": [said]}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }


@contextmanager
def hosting(app: FastAPI) -> Iterator[int]:
    """Serve an application on loopback; its port."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture
def run(environments: AgentGymServer, expert: Expert) -> Iterator[Run]:
    """Have NeMo-Gym's `gymnasium_agent` roll a row out, with the expert for a model."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        texts = [m["content"] for m in body["input"] if m["role"] == "user"]
        first = texts[0].removeprefix(f"{expert.system_prompt}\n\n")
        assert first != texts[0]
        return response(expert.completion([first, *texts[1:]]))

    with (
        hosting(environments.setup_webserver()) as port,
        serving({"/v1/responses": answer}) as model,
    ):
        ports = {"agentgym": port, "policy_model": int(model.url.rpartition(":")[2])}
        places = {
            name: {"kind": {name: {"host": "127.0.0.1", "port": port}}}
            for name, port in ports.items()
        }

        def roll_out(max_steps: int = 20, **row: Any) -> Any:
            agent = GymnasiumAgent(
                config={
                    "host": "127.0.0.1",
                    "port": 0,
                    "entrypoint": "app.py",
                    "name": "agent",
                    "resources_server": {"type": "resources_servers", "name": "agentgym"},
                    "model_server": {"type": "responses_api_models", "name": "policy_model"},
                    "max_steps": max_steps,
                },
                server_client=ServerClient(
                    head_server_config=BaseServerConfig(host="127.0.0.1", port=0),
                    global_config_dict=OmegaConf.create(places),
                ),
            )
            body = GymnasiumAgentRunRequest(responses_create_params={"input": []}, **row)

            async def play() -> Any:
                client = server_utils.set_global_aiohttp_client(
                    server_utils.GlobalAIOHTTPAsyncClientConfig()
                )
                try:
                    return await agent.run(Request({"type": "http", "headers": []}), body)
                finally:
                    await client.close()
                    server_utils._GLOBAL_AIOHTTP_CLIENT = None

            return asyncio.run(play())

        yield roll_out


def test_gymnasium_agent_plays_an_experts_episode(
    run: Run, expert: Expert, environments: AgentGymServer
) -> None:
    rolled = run(env="TextCraft", env_kwargs=KWARGS, task_id=TASK)
    assert (rolled.reward, rolled.terminated, rolled.truncated) == (1, True, False)
    assert (rolled.info["task_id"], rolled.info["success"]) == (TASK, True)
    output = [item.content for item in rolled.response.output]
    texts = [content if isinstance(content, str) else content[0].text for content in output]
    first, *rest = (text for turn in expert.turns[TASK] for text in turn)
    assert texts == rest
    assert (environments.session_state, len(environments._sessions)) == ({}, 0)


def test_an_agent_that_stops_leaves_an_episode_until_it_was_idle(
    run: Run, environments: AgentGymServer
) -> None:
    rolled = run(max_steps=1, env="TextCraft", env_kwargs=KWARGS, task_id=TASK)
    assert (rolled.reward, rolled.terminated, rolled.truncated) == (0, False, True)
    assert len(environments._sessions) == 1


def test_episodes_are_counted_and_given_up(environments: AgentGymServer) -> None:
    async def play() -> None:
        row = {"env": "TextCraft", "task_id": TASK}
        observation, info = await environments.reset(row, "a")
        assert observation.endswith("craft acacia wood.")
        assert info["task_id"] == TASK
        await environments.reset(row, "a")  # ends the one before
        await environments.reset({"env": "TextCraft"}, "b")
        with pytest.raises(AtCapacity):
            await environments.reset(row, "c")
        session = environments.session_state["a"]
        await environments._sessions.close(session, "idle for 3600 s")
        assert list(environments.session_state) == ["b"]
        await environments.reset(row, "c")
        with pytest.raises(ValueError, match="was idle for too long; reset begins one"):
            await environments.step(NeMoGymResponse(**response("inventory")), row, "a")
        answer = await environments.step(NeMoGymResponse(**response("inventory")), row, "c")
        assert answer[:4] == ("Inventory: empty", 0, False, False)
        await environments.close_session("b")
        await environments.close_session("c")

    asyncio.run(play())


def test_a_row_without_an_environment_is_refused(environments: AgentGymServer) -> None:
    with pytest.raises(ValueError, match="must name its env, like 'TextCraft'; got"):
        asyncio.run(environments.reset({"task_id": TASK}, "a"))
