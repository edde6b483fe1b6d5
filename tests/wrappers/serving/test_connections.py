"""Connections that send nothing, or little, neither stay nor keep others out."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest

from tests.wrappers.serving.clients import Socket
from tests.wrappers.serving.conftest import Serve
from wrappers.serving.limits import Limits
from wrappers.serving.running import log_seldom

HEAD = b"POST /reset HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"


def connect(url: str) -> socket.socket:
    place = urlsplit(url)
    return socket.create_connection((place.hostname, place.port), timeout=5)


@pytest.mark.parametrize("sent", [b"", b"POST /re", HEAD, HEAD + b"\r\n{"])
def test_a_request_that_does_not_arrive_is_dropped(serve: Serve, sent: bytes) -> None:
    url = serve(arrival_timeout=0.3, token="secret" if not sent.endswith(b"{") else None)
    with connect(url) as half:
        half.sendall(sent)
        try:
            while half.recv(4096):  # what could be answered comes first
                pass
        except ConnectionResetError:
            pass
    assert httpx.get(f"{url}/health").status_code == 200


def test_drops_one_byte_at_a_time_too(serve: Serve) -> None:
    url = serve(arrival_timeout=0.4)
    with connect(url) as slow, pytest.raises((ConnectionError, TimeoutError)):
        for byte in HEAD * 9:
            slow.sendall(bytes([byte]))
            time.sleep(0.05)


@pytest.mark.full
def test_a_client_that_reads_no_answer_is_dropped(serve: Serve) -> None:
    url = serve(arrival_timeout=0.3)
    place = urlsplit(url)
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        deaf.settimeout(3)
        deaf.connect((place.hostname, place.port))
        with pytest.raises(ConnectionError):
            while True:  # until the server no longer reads, for it cannot answer
                deaf.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 100)
    assert httpx.get(f"{url}/health").status_code == 200


def test_one_connection_too_many_is_answered(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Limits, "max_connections", 3)
    url = serve()
    held = [connect(url) for _ in range(3)]
    time.sleep(0.1)
    with connect(url) as further:
        answer = further.recv(4096)
    assert answer.startswith(b"HTTP/1.1 503") and b"too many connections" in answer
    for one in held:
        one.close()
    deadline = time.monotonic() + 5
    while httpx.get(f"{url}/health").status_code != 200:
        assert time.monotonic() < deadline


@pytest.mark.full
def test_what_has_arrived_may_take_longer_than_its_arrival(serve: Serve) -> None:
    url = serve(arrival_timeout=0.3)
    with Socket(url) as client:
        client.observation("reset", task_id=3)
        time.sleep(0.6)
        assert client.observation("step", message="say nap 1")
    with httpx.Client(base_url=url) as kept:
        for _ in range(3):
            assert kept.get("/health").status_code == 200
            time.sleep(0.4)


def test_want_of_file_handles_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    handle, loop = log_seldom(), asyncio.new_event_loop()
    context = {
        "message": "socket.accept() out of system resource",
        "exception": OSError(errno.EMFILE, "Too many open files"),
    }
    with caplog.at_level(logging.WARNING):
        for _ in range(1000):
            handle(loop, context)
        handle(loop, {"message": "another error", "exception": OSError("x")})
    loop.close()
    assert [record.name for record in caplog.records] == ["wrappers.serving.running", "asyncio"]
