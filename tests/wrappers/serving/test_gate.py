"""Who is let in, and how much is read."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import httpx
import pytest

from tests.helpers import COUNTING_ID, register_helpers
from tests.wrappers.serving.clients import Closed, Refused, Socket
from tests.wrappers.serving.conftest import Serve
from wrappers.serving.app import make_app
from wrappers.serving.environments import served

TOKEN = "a-word-nobody-guesses"


def test_another_name_that_leads_here_is_refused(counting: str) -> None:
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        assert httpx.get(f"{counting}/metadata", headers=headers).status_code == 403
        with pytest.raises(Refused, match="403"):
            Socket(counting, headers=headers)
    assert httpx.get(f"{counting}/metadata", headers={"host": "localhost"}).status_code == 200


def test_a_page_of_the_server_itself_may_ask(counting: str) -> None:
    assert httpx.get(f"{counting}/metadata", headers={"origin": counting}).status_code == 200


def test_without_the_token_nothing_but_the_health_is_told(serve: Serve) -> None:
    url = serve(token=TOKEN, host="0.0.0.0")
    assert httpx.get(f"{url}/health").status_code == 200
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic !"}):
        assert httpx.get(f"{url}/metadata", headers=headers).status_code == 401
        assert httpx.get(f"{url}/metrics", headers=headers).status_code == 401
        with pytest.raises(Refused, match="401"):
            Socket(url, headers=headers)
    with pytest.raises(Refused, match="401"):
        Socket(url, "/ws?token=wrong")


@pytest.mark.parametrize("credentials", ["é".encode("latin-1"), b"a", b"/w==", b"\xff\xfe"])
def test_credentials_that_cannot_be_read_are_refused(serve: Serve, credentials: bytes) -> None:
    url = serve(token=TOKEN, host="0.0.0.0")
    headers = {b"authorization": b"Basic " + credentials}
    assert httpx.get(f"{url}/metadata", headers=headers).status_code == 401


@pytest.mark.parametrize("header", ["Basic bWU6b3RoZXI=", "Bearer other", "Digest x"])
def test_a_token_that_is_right_opens_beside_a_proxys_header(serve: Serve, header: str) -> None:
    url = serve(token=TOKEN, host="0.0.0.0")
    headers = {"authorization": header}
    assert httpx.get(f"{url}/metadata?token={TOKEN}", headers=headers).status_code == 200
    assert httpx.get(f"{url}/metadata?token=wrong", headers=headers).status_code == 401


def test_the_token_opens_in_each_of_its_forms(serve: Serve) -> None:
    url = serve(token=TOKEN, host="0.0.0.0")
    bearer = {"authorization": f"Bearer {TOKEN}"}
    basic = {"authorization": "Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()}
    for headers in (bearer, basic):
        assert httpx.get(f"{url}/metadata", headers=headers).status_code == 200
        with Socket(url, headers=headers) as client:
            assert client.observation("reset", task_id=1)
    with Socket(url, f"/ws?token={TOKEN}") as client:
        assert client.observation("reset", task_id=1)


def test_with_a_token_a_server_may_have_any_name(serve: Serve) -> None:
    url = serve(token=TOKEN, host="0.0.0.0")
    headers = {"host": "node-7", "authorization": f"Bearer {TOKEN}"}
    assert httpx.get(f"{url}/metadata", headers=headers).status_code == 200


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_body_that_is_too_long_is_not_read(serve: Serve, is_streamed: bool) -> None:
    url = serve(max_message=10_000)
    body = b"x" * 50_000
    content = iter([body[:25_000], body[25_000:]]) if is_streamed else body
    assert httpx.post(f"{url}/reset", content=content).status_code == 413
    assert httpx.get(f"{url}/health").status_code == 200


def test_a_frame_of_50_mb_closes_its_connection_alone(serve: Serve) -> None:
    url = serve()
    with Socket(url) as other:
        client = Socket(url)
        with pytest.raises((Closed, ConnectionError)):
            client.send_text('{"type": "step", "data": {"message": "' + "x" * 50_000_000 + '"}}')
            client.receive_text()
        client.vanish()
        assert other.observation("reset", task_id=1)


@pytest.mark.parametrize("body", [b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_object_is_unprocessable(counting: str, body: bytes) -> None:
    assert httpx.post(f"{counting}/reset", content=body).status_code == 422
    assert httpx.post(f"{counting}/tasks", content=body).status_code == 422


@pytest.mark.parametrize("path", ["/reset", "/tasks", "/mcp"])
def test_a_client_that_leaves_amid_its_body_gets_no_answer_and_raises_nothing(path: str) -> None:
    register_helpers()
    app = make_app(served([COUNTING_ID], {}))
    messages = [
        {"type": "http.request", "body": b'{"a', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    asyncio.run(app(scope, receive, send))
    assert sent == []
