"""MCP: an environment's actions as tools."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from agentgym_envs import EnvFailure
from tests.helpers import COUNTING_ID, FRAGILE_ID
from tests.wrappers.serving.clients import Socket
from tests.wrappers.serving.conftest import Serve
from tests.wrappers.serving.test_sessions import eventually, metric
from wrappers.serving import limits
from wrappers.serving.environments import ServedEnvironment


def rpc(url: str, method: str, headers: dict[str, str] | None = None, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = httpx.post(f"{url}/mcp", json=body, headers=headers)
    assert answer.status_code == 200
    assert answer.json()["id"] == 7
    return answer.json()


def test_a_tool_clients_session_is_shared_with_its_websocket(counting: str) -> None:
    session = rpc(counting, "openenv/session/create")["result"]["session_id"]
    tools = rpc(counting, "tools/list", session_id=session)["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["add", "double", "say"]
    assert tools[0]["inputSchema"]["required"] == ["amount"]
    with Socket(counting, f"/ws?session_id={session}") as client:
        client.observation("reset", task_id=9)
        called = rpc(
            counting, "tools/call", session_id=session, name="add", arguments={"amount": 9}
        )
        assert called["result"]["data"].startswith("The counter is 9.")
        assert called["result"]["structuredContent"]["done"] is False
        assert client.ask("state")["data"]["step_count"] == 1
        last = client.observation(
            "step", type="call_tool", tool_name="add", arguments={"amount": 1}
        )
        assert last["reward"] == 1.0
    closed = rpc(counting, "openenv/session/close", session_id=session)["result"]
    assert closed == {"session_id": session, "closed": True}
    assert "error" in rpc(counting, "openenv/session/close", session_id=session)


def test_any_other_client_begins_by_a_tool(counting: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    answer = httpx.post(f"{counting}/mcp", json=body)
    assert answer.json()["result"]["serverInfo"]["name"] == "counting"
    headers = {"mcp-session-id": answer.headers["mcp-session-id"]}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert httpx.post(f"{counting}/mcp", json=note, headers=headers).status_code == 202
    tools = rpc(counting, "tools/list", headers)["result"]["tools"]
    assert tools[0]["name"] == "begin_episode"
    begun = rpc(
        counting, "tools/call", headers, name="begin_episode", arguments={"task_id": "counting_2"}
    )
    assert "bring the counter to 3" in begun["result"]["content"][0]["text"]
    played = rpc(counting, "tools/call", headers, name="add", arguments={"amount": 3})
    assert played["result"]["structuredContent"]["success"] is True
    refused = rpc(counting, "tools/call", headers, name="begin_episode", arguments={"task_id": "x"})
    assert refused["result"]["isError"] is True
    assert httpx.delete(f"{counting}/mcp", headers=headers).status_code == 204
    assert httpx.delete(f"{counting}/mcp", headers=headers).status_code == 404


def test_a_websocket_has_a_session_of_its_own(counting: str) -> None:
    with Socket(counting, "/mcp") as client:

        def ask(method: str, **params: Any) -> Any:
            client.send_text(
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            )
            return json.loads(client.receive_text())

        assert ask("ping")["result"] == {}
        assert "error" in ask("tools/call", name="add", arguments={"amount": 1})
        ask("tools/call", name="begin_episode", arguments={"task_id": "counting_0"})
        won = ask("tools/call", name="add", arguments={"amount": 1})["result"]
        assert won["structuredContent"]["reward"] == 1.0
        client.send_text("{")
        assert json.loads(client.receive_text())["error"]["code"] == -32700


def test_a_notification_over_a_websocket_has_no_answer(counting: str) -> None:
    with Socket(counting, "/mcp") as client:
        for message in (
            {"method": "notifications/initialized"},
            {"method": "notifications/cancelled", "params": {"requestId": 4}},
            {"id": 5, "method": "ping"},
        ):
            client.send_text(json.dumps({"jsonrpc": "2.0", **message}))
        assert json.loads(client.receive_text())["id"] == 5


@pytest.mark.full
def test_a_session_that_is_never_played_on_is_given_back_soon(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_SHORT_PATIENCE", 2.0)
    url = serve(idle_timeout=16)
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    _, headers = (
        {"mcp-session-id": httpx.post(f"{url}/mcp", json=body).headers["mcp-session-id"]}
        for _ in range(2)
    )
    rpc(url, "tools/call", headers, name="begin_episode", arguments={"task_id": "counting_2"})
    eventually(lambda: metric(url, "sessions_active") == 1)
    played = rpc(url, "tools/call", headers, name="add", arguments={"amount": 3})
    assert played["result"]["structuredContent"]["success"] is True


def test_an_environment_is_made_for_who_plays_not_for_who_looks(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve(COUNTING_ID)
    made: list[str] = []
    make = ServedEnvironment.make

    def counted(environment: ServedEnvironment) -> Any:
        made.append(environment.name)
        return make(environment)

    monkeypatch.setattr(ServedEnvironment, "make", counted)
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    headers = {"mcp-session-id": httpx.post(f"{url}/mcp", json=body).headers["mcp-session-id"]}
    assert rpc(url, "tools/list", headers)["result"]["tools"]
    assert made == []
    rpc(url, "tools/call", headers, name="begin_episode", arguments={"task_id": "counting_2"})
    assert made == ["counting"]


def test_an_environment_that_cannot_be_made_is_an_error_of_the_first_call(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve(COUNTING_ID)

    def broken(_: ServedEnvironment) -> Any:
        raise EnvFailure("there is no Java")

    monkeypatch.setattr(ServedEnvironment, "make", broken)
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    headers = {"mcp-session-id": httpx.post(f"{url}/mcp", json=body).headers["mcp-session-id"]}
    refused = rpc(url, "tools/call", headers, name="begin_episode")
    assert refused["error"] == {"code": -32603, "message": "there is no Java"}


def test_frames_of_the_openenv_socket_carry_requests(counting: str) -> None:
    with Socket(counting) as client:
        client.observation("reset", task_id=0)
        answer = client.ask("mcp", jsonrpc="2.0", id=3, method="tools/list")
        assert answer["type"] == "mcp"
        own = client.ask("mcp", jsonrpc="2.0", id=4, method="openenv/session/create")["data"]
        session = own["result"]["session_id"]
        played = rpc(
            counting, "tools/call", session_id=session, name="add", arguments={"amount": 1}
        )
        assert played["result"]["structuredContent"]["reward"] == 1.0
        assert "begin_episode" not in [t["name"] for t in answer["data"]["result"]["tools"]]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32600),
        (b"{}", -32600),
        (b"{", -32700),
        (b"[]", -32700),
        (b'{"jsonrpc": "2.0", "method": "fly"}', -32601),
        (b'{"jsonrpc": "2.0", "method": "tools/list", "params": [1]}', -32602),
        (b'{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "add"}}', -32602),
        (b'{"jsonrpc": "2.0", "method": "openenv/session/close"}', -32602),
    ],
)
def test_a_request_that_cannot_be_answered_is_an_error(
    counting: str, body: bytes, code: int
) -> None:
    answer = httpx.post(f"{counting}/mcp", content=body)
    assert answer.status_code == 200
    assert (answer.json()["jsonrpc"], answer.json()["error"]["code"]) == ("2.0", code)


def test_a_failure_and_an_action_refused_differ(serve: Serve) -> None:
    url = serve()
    with Socket(url, "/mcp") as client:

        def call(name: str, **arguments: Any) -> Any:
            params = {"name": name, "arguments": arguments}
            client.send_text(
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            )
            return json.loads(client.receive_text())

        call("begin_episode", task_id="counting_5")
        assert call("add", amount=77)["result"]["isError"] is True
        assert call("add", number=7)["result"]["isError"] is True
        assert call("fly")["error"]["code"] == -32602
        assert call("say", words="break")["error"]["code"] == -32603


def test_a_session_belongs_to_its_environment(serve: Serve) -> None:
    url = serve(COUNTING_ID, FRAGILE_ID)
    session = rpc(f"{url}/counting", "openenv/session/create")["result"]["session_id"]
    assert "error" in rpc(f"{url}/fragile", "tools/call", session_id=session, name="double")
    with Socket(url, f"/fragile/ws?session_id={session}") as client:
        assert json.loads(client.receive_text())["data"]["code"] == "SESSION_ERROR"


def test_verbs_with_names_that_openenv_keeps_are_renamed(serve: Serve) -> None:
    url = serve("agentgym/BabyAI-v0")
    names = [tool["name"] for tool in rpc(url, "tools/list")["result"]["tools"]]
    assert "do_close" in names
    assert {"reset", "step", "state", "close"}.isdisjoint(names)
