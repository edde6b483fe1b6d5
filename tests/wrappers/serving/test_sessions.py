"""Sessions: room, time, failures, and clients that vanish."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from agentgym_envs import Outcome
from tests.helpers import FRAGILE_ID, FragileEnv, register_helpers
from tests.wrappers.serving.clients import Closed, Socket, serving
from tests.wrappers.serving.conftest import Serve
from wrappers.serving.app import make_app
from wrappers.serving.environments import served
from wrappers.serving.openenv import socket
from wrappers.serving.worker import Worker


def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def metric(url: str, name: str) -> float:
    text = httpx.get(f"{url}/metrics").text
    return sum(
        float(value) for value in re.findall(rf"^agentgym_{name}(?:{{.*}})? (.*)$", text, re.M)
    )


def threads() -> int:
    return sum(thread.name == "serving" for thread in threading.enumerate())


def stuff(client: Socket) -> None:
    """Send without reading any answer, until nothing more is taken."""
    client.observation("reset", task_id=3)
    client.socket.settimeout(1.0)
    text = json.dumps({"type": "reset", "data": {"episode_id": "x" * 20_000}})
    with pytest.raises(TimeoutError):
        for _ in range(20_000):
            client.send_text(text)


def test_each_connection_has_an_environment_of_its_own(serve: Serve) -> None:
    url = serve()
    with Socket(url) as one, Socket(url) as other:
        one.observation("reset", task_id=9)
        other.observation("reset", task_id=9)
        one.observation("step", message="add 9")
        text = other.observation("step", message="add 1")["observation"]["text"]
        assert text.startswith("The counter is 1.")


def test_at_capacity_a_client_is_told_and_the_connection_closed(serve: Serve) -> None:
    url = serve(max_sessions=1)
    with Socket(url), Socket(url) as refused:
        answer = json.loads(refused.receive_text())["data"]
        assert answer["code"] == "CAPACITY_REACHED"
        assert (answer["active_sessions"], answer["max_sessions"]) == (1, 1)
        with pytest.raises(Closed):
            refused.receive_text()
        assert httpx.post(f"{url}/reset", json={}).status_code == 503
    eventually(lambda: metric(url, "sessions_active") == 0)
    with Socket(url) as client:
        assert client.observation("reset", task_id=1)
    assert metric(url, "sessions_refused_total") == 2


@pytest.mark.parametrize("leave", [Socket.close, Socket.vanish])
def test_what_a_client_leaves_is_closed(serve: Serve, leave: Callable[[Socket], None]) -> None:
    before, closed = threads(), FragileEnv.closed
    url = serve()
    for _ in range(10):
        client = Socket(url)
        client.observation("reset", task_id=3)
        leave(client)
    eventually(lambda: metric(url, "sessions_active") == 0 and threads() == before)
    assert FragileEnv.closed == closed + 10


def test_a_close_frame_has_no_answer_and_ends_the_session(serve: Serve) -> None:
    url = serve()
    with Socket(url) as client:
        client.send_text('{"type": "close"}')
        with pytest.raises(Closed):
            client.receive_text()
    eventually(lambda: metric(url, "sessions_active") == 0)


@pytest.mark.full
def test_a_client_that_vanishes_in_a_step_is_noticed_at_once(serve: Serve) -> None:
    closed = FragileEnv.closed
    url = serve()
    client = Socket(url)
    client.observation("reset", task_id=3)
    client.send_text(json.dumps({"type": "step", "data": {"message": "say nap 1.5"}}))
    time.sleep(0.2)
    client.vanish()
    eventually(lambda: FragileEnv.closed == closed + 1)
    eventually(lambda: metric(url, "sessions_active") == 0)


@pytest.mark.full
def test_pings_are_answered_and_others_play_while_a_step_runs(serve: Serve) -> None:
    url = serve()
    with Socket(url) as slow, Socket(url) as quick:
        slow.observation("reset", task_id=3)
        quick.observation("reset", task_id=3)
        slow.send_text(json.dumps({"type": "step", "data": {"message": "say nap 2"}}))
        begun = time.monotonic()
        slow.ping()
        quick.observation("step", message="add 1")
        assert time.monotonic() - begun < 1.5
        assert json.loads(slow.receive_text())["type"] == "observation"


def test_frames_sent_ahead_are_answered_in_their_order(serve: Serve) -> None:
    with Socket(serve()) as client:
        client.observation("reset", task_id=30)
        for amount in (1, 2, 3):
            client.send_text(json.dumps({"type": "step", "data": {"message": f"add {amount}"}}))
        texts = [json.loads(client.receive_text())["data"]["observation"]["text"] for _ in range(3)]
        assert [text[:17] for text in texts] == [f"The counter is {n}." for n in (1, 3, 6)]


@pytest.mark.full
def test_a_client_that_does_not_read_holds_up_itself_alone(serve: Serve) -> None:
    url = serve()
    with Socket(url) as slow, Socket(url) as quick:
        stuff(slow)
        quick.observation("reset", task_id=3)
        assert quick.observation("step", message="add 4")["reward"] == 1.0
    eventually(lambda: metric(url, "sessions_active") == 0)


@pytest.mark.full
def test_a_client_that_does_not_read_loses_its_session(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "CLOSE_SECONDS", 0.3)
    monkeypatch.setattr(socket, "FINAL_SEND_SECONDS", 0.3)
    url = serve()
    with Socket(url) as client:
        stuff(client)
        eventually(lambda: metric(url, "sessions_active") == 0)


@pytest.mark.full
def test_a_server_stops_soon_beside_clients_that_do_not_read(
    capfd: pytest.CaptureFixture[str],
) -> None:
    register_helpers()
    with serving(make_app(served([FRAGILE_ID], {}))) as url:
        clients = [Socket(url) for _ in range(2)]
        for client in clients:
            stuff(client)
        begun = time.monotonic()
    assert time.monotonic() - begun < 8
    assert "Traceback" not in capfd.readouterr().err
    for client in clients:
        client.vanish()


def test_an_idle_session_is_closed_with_its_reason(serve: Serve) -> None:
    url = serve(idle_timeout=0.4)
    with Socket(url) as client:
        client.observation("reset", task_id=3)
        answer = json.loads(client.receive_text())["data"]
        assert answer["code"] == "SESSION_ERROR"
        assert "idle for 0.4 s" in answer["message"]
        with pytest.raises(Closed):
            client.receive_text()
    eventually(lambda: metric(url, "sessions_active") == 0)


@pytest.mark.full
def test_any_request_that_names_a_session_keeps_it(serve: Serve) -> None:
    url = serve("agentgym/TextCraft-v0", idle_timeout=1.5)
    number = httpx.post(f"{url}/create").json()["id"]
    ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    headers = {"mcp-session-id": httpx.post(f"{url}/mcp", json=ask).headers["mcp-session-id"]}
    with Socket(url) as client:
        for _ in range(10):
            time.sleep(0.25)
            client.ask("state")
            assert httpx.get(f"{url}/observation", params={"id": number}).status_code == 200
            httpx.post(f"{url}/mcp", json={**ask, "method": "tools/list"}, headers=headers)
            assert metric(url, "sessions_active") == 3
    eventually(lambda: metric(url, "sessions_active") == 0)


def test_closings_that_hang_or_fail_keep_no_idle_session_open(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    close, closings, released = Worker.close, [], threading.Event()

    async def close_badly(worker: Worker) -> None:
        closings.append(worker)
        count = len(closings)
        while count == 1 and not released.is_set():
            await asyncio.sleep(0.02)
        await close(worker)
        if count == 2:
            raise RuntimeError("a bug")

    monkeypatch.setattr(Worker, "close", close_badly)
    url = serve(idle_timeout=0.2)
    body = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
    for count in (1, 2, 3):
        httpx.post(f"{url}/mcp", json=body)
        eventually(lambda count=count: len(closings) == count)  # type: ignore[misc]
        eventually(lambda: metric(url, "sessions_active") == 1)  # the one that hangs
    assert "closing an idle session: RuntimeError: a bug" in caplog.text
    released.set()
    eventually(lambda: metric(url, "sessions_active") == 0)


def test_an_environments_error_is_its_failure_whatever_its_type(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def apply(self: FragileEnv, action: str) -> Outcome:
        raise TypeError("object of type 'int' has no len()")

    monkeypatch.setattr(FragileEnv, "apply", apply)
    url = serve()
    with Socket(url) as client:
        client.observation("reset", task_id=3)
        answer = client.ask("step", message="add 1")["data"]
    assert answer["code"] == "EXECUTION_ERROR"
    assert metric(url, "failures_total") == 1
    assert "TypeError: object of type 'int' has no len()" in caplog.text
    assert "in apply\n" in caplog.text


@pytest.mark.parametrize("failure", ["say break", "say bug"])
def test_a_failure_is_an_error_and_the_next_reset_plays_on(serve: Serve, failure: str) -> None:
    url = serve()
    with Socket(url) as client:
        client.observation("reset", task_id=3)
        for _ in range(2):
            assert client.ask("step", message=failure)["data"]["code"] == "EXECUTION_ERROR"
        client.observation("reset", task_id=3)
        assert client.observation("step", message="add 4")["reward"] == 1.0
    assert metric(url, "failures_total") >= 1


def test_a_step_that_hangs_is_given_up_in_time(serve: Serve) -> None:
    url = serve(step_timeout=0.5)
    with Socket(url) as client:
        client.observation("reset", task_id=3)
        answer = client.ask("step", message="say nap 2")["data"]
        assert answer["code"] == "EXECUTION_ERROR"
        assert "no answer within 0.5 s" in answer["message"]
        assert client.observation("reset", task_id=3)["reward"] is None
    eventually(lambda: metric(url, "sessions_active") == 0)


def test_a_server_that_stops_closes_what_is_open() -> None:
    register_helpers()
    before, closed = threads(), FragileEnv.closed
    with serving(make_app(served([FRAGILE_ID], {}))) as url:
        clients = [Socket(url) for _ in range(3)]
        for client in clients:
            client.observation("reset", task_id=3)
    assert FragileEnv.closed == closed + 3
    assert threads() == before
    for client in clients:
        client.vanish()


def test_many_sessions_opened_and_dropped_leave_nothing(serve: Serve) -> None:
    before = threads()
    url = serve(max_sessions=8)
    for _ in range(200):
        Socket(url).vanish()
    eventually(lambda: metric(url, "sessions_active") == 0 and threads() == before)
    with Socket(url) as client:
        assert client.observation("reset", task_id=1)


def test_the_end_of_a_session_is_one_line_of_the_log(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="wrappers.serving")
    url = serve()
    with Socket(url) as client:
        client.observation("reset", task_id=3)
        client.observation("step", message="add 4")
    eventually(lambda: len(caplog.records) == 1)
    (line,) = caplog.messages
    assert "session of fragile ended: the client left; 1 episodes, 1 steps, 0 failures" in line


def test_metrics_count_sessions_and_steps(serve: Serve) -> None:
    url = serve()
    with Socket(url) as client:
        client.observation("reset", task_id=3)
        client.observation("step", message="add 1")
        client.observation("step", message="add 1")
        text = httpx.get(f"{url}/metrics").text
    assert "agentgym_sessions_active 1\n" in text
    assert 'agentgym_sessions_opened_total{env="fragile"} 1\n' in text
    assert 'agentgym_steps_total{env="fragile"} 2\n' in text
    assert "# TYPE agentgym_steps_per_second gauge\n" in text
