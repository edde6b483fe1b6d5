"""Steps per second of clients of `agentgym serve`, on the server's machine."""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

import gymnasium as gym

from agentgym_envs.errors import install_command
from lab.processes import Child
from lab.throughput.measure import Row, Side, Stopwatch, compare

_TASK = "textcraft_0"
_KWARGS: dict[str, Any] = {"max_turns": 1_000_000}
_TEXT, _PING, _PONG, _MASKED = 0x81, 0x89, 0x8A, 0x80
_LONG = 126
"""The length that says that two bytes of length follow."""


def serving_rows(repeats: int, *, num_steps: int = 2_000, num_clients: int = 64) -> Iterator[Row]:
    """Measure one client, many at once, and how long a session takes to its first observation.

    Args:
        repeats: timed runs.
        num_steps: steps of a run.
        num_clients: how many the many are.
    """
    if find_spec("uvicorn") is None or find_spec("wsproto") is None:
        print("serve is left out: " + install_command("serve"))
        return
    with _server(num_clients) as port, ExitStack() as stack:
        one = stack.enter_context(_Client(port))

        def alone(watch: Stopwatch) -> None:
            with watch.running():
                one.play(num_steps)
            watch.units += num_steps

        yield compare(
            "serve",
            Side("serve, TextCraft, one client", "steps", alone),
            Side("in process", "steps", lambda watch: _in_process(watch, num_steps)),
            repeats=repeats,
        )
        one.close()
        yield compare("serve", _sessions(port, num_sessions=100), repeats=repeats)
        clients = [stack.enter_context(_Client(port)) for _ in range(num_clients)]
        pool = stack.enter_context(ThreadPoolExecutor(num_clients))
        share = max(1, num_steps // num_clients)

        def together(watch: Stopwatch) -> None:
            with watch.running():
                list(pool.map(lambda client: client.play(share), clients))
            watch.units += share * num_clients

        side = Side(f"serve, TextCraft, {num_clients} clients at once", "steps", together)
        yield compare("serve", side, repeats=repeats)


def _sessions(port: int, *, num_sessions: int) -> Side:
    def work(watch: Stopwatch) -> None:
        for _ in range(num_sessions):
            with watch.running():
                client = _Client(port)
            client.close()
        watch.units += num_sessions

    return Side("serve, TextCraft, connect and reset", "sessions", work)


def _in_process(watch: Stopwatch, num_steps: int) -> None:
    env: Any = gym.make("agentgym/TextCraft-v0", **_KWARGS)
    env.reset(options={"task_id": _TASK})
    with watch.running():
        for _ in range(num_steps):
            env.step("inventory")
    watch.units += num_steps


@contextmanager
def _server(num_clients: int) -> Iterator[int]:
    """Serve TextCraft in a process of its own, and yield the port."""
    command = [sys.executable, "-m", "benchmarks", "serve", "--env", "TextCraft", "--port", "0"]
    command += ["--env_kwargs", json.dumps(_KWARGS), "--max_sessions", str(num_clients + 8)]
    with Child(command) as server:
        # "serving http://127.0.0.1:PORT/textcraft; Ctrl-C ends"
        yield int(server.first_line().partition("127.0.0.1:")[2].partition("/")[0])


class _Client:
    """The least of a WebSocket client: short frames, sent and awaited one by one.

    Args:
        port: of the server on this machine.
    """

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        self._socket.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while self._file.readline().strip():
            pass
        self._ask({"type": "reset", "data": {"task_id": _TASK}})

    def play(self, num_steps: int) -> None:
        """Play `num_steps` steps of the episode."""
        for _ in range(num_steps):
            self._ask({"type": "step", "data": {"message": "inventory"}})

    def close(self) -> None:
        """Leave."""
        self._file.close()
        self._socket.close()

    def __enter__(self) -> _Client:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _ask(self, frame: dict[str, Any]) -> None:
        self._send(_TEXT, json.dumps(frame).encode())
        while (received := self._receive())[0] == _PING:
            self._send(_PONG, received[1])
        answer = json.loads(received[1])
        if answer["type"] != "observation":
            raise RuntimeError(f"the server answered {answer!r:.200}")

    def _send(self, kind: int, payload: bytes) -> None:
        assert len(payload) < _LONG
        mask = b"\0\0\0\0"  # which leaves the payload as it is
        self._socket.sendall(bytes([kind, _MASKED | len(payload)]) + mask + payload)

    def _receive(self) -> tuple[int, bytes]:
        kind, length = self._file.read(2)
        if length == _LONG:
            (length,) = struct.unpack(">H", self._file.read(2))
        return kind, self._file.read(length)
