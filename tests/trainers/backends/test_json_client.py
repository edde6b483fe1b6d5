"""A client's end: nobody waits for a server that hangs."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from trainers.backends.json_client import JSONClient, RequestFailed, end_clients
from trainers.options.errors import run_command


@pytest.fixture
def hanging() -> Iterator[tuple[JSONClient, Future[Any]]]:
    """A client, and its request to a server that takes connections and never answers."""
    with socket.socket() as server, ThreadPoolExecutor(1) as pool:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client = JSONClient(f"http://127.0.0.1:{server.getsockname()[1]}", timeout=120)
        request = pool.submit(client.post, "/", {})
        accepted, _ = server.accept()
        accepted.recv(1)  # the request is under way
        yield client, request
        client.close()
        accepted.close()


def interrupt() -> int:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "end",
    [JSONClient.close, lambda client: end_clients(), lambda client: run_command(interrupt)],
    ids=["closed", "all closed", "its command ends"],
)
def test_a_request_under_way_ends_with_its_client(
    end: Callable[[JSONClient], Any], hanging: tuple[JSONClient, Future[Any]]
) -> None:
    client, request = hanging
    end(client)
    with pytest.raises(RequestFailed, match="client has ended"):
        request.result(timeout=20)
