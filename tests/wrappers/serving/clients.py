"""A real server on loopback, and clients of it that know no more than the wire."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Message,
    Ping,
    Pong,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)

from wrappers.serving.running import listen, make_server


@contextmanager
def serving(app: Starlette, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve the application by uvicorn, at a free port where none is named; its address."""
    listener = listen(host, port)
    server = make_server(app, host=host)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    try:
        yield f"http://{host}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()
        assert not thread.is_alive()


class Refused(Exception):
    """The server did not accept the connection."""


class Closed(Exception):
    """The server closed the connection."""


class Socket:
    """A blocking WebSocket client."""

    def __init__(self, url: str, path: str = "/ws", headers: dict[str, str] | None = None) -> None:
        place = urlsplit(url)
        self.socket = socket.create_connection((place.hostname, place.port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = WSConnection(ConnectionType.CLIENT)
        self._events: list[Any] = []
        extra = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        host = (headers or {}).get("host", place.netloc)
        extra = [(name, value) for name, value in extra if name != b"host"]
        self.send(Request(host=host, target=place.path + path, extra_headers=extra))
        event = self.next_event()
        if isinstance(event, RejectConnection):
            body = b""
            while not isinstance(rest := self.next_event(), RejectData) or not rest.body_finished:
                body += getattr(rest, "data", b"")
            self.socket.close()
            raise Refused(event.status_code, (body + rest.data).decode())
        assert isinstance(event, AcceptConnection)

    def send(self, event: Any) -> None:
        self.socket.sendall(self._connection.send(event))

    def send_text(self, text: str) -> None:
        self.send(TextMessage(data=text))

    def next_event(self) -> Any:
        while not self._events:
            data = self.socket.recv(1 << 16)
            self._connection.receive_data(data or None)
            for event in self._connection.events():
                if isinstance(event, Ping):
                    self.send(event.response())
                else:
                    self._events.append(event)
        return self._events.pop(0)

    def receive_text(self) -> str:
        parts = ""
        while True:
            event = self.next_event()
            if isinstance(event, CloseConnection):
                raise Closed(event.code, event.reason)
            if isinstance(event, Message):
                parts += str(event.data)
                if event.message_finished:
                    return parts

    def ask(self, kind: str, **data: Any) -> dict[str, Any]:
        """Send a frame of OpenEnv and return the answer's frame."""
        self.send_text(json.dumps({"type": kind, "data": data}))
        answer: dict[str, Any] = json.loads(self.receive_text())
        return answer

    def observation(self, kind: str, **data: Any) -> dict[str, Any]:
        """Send a frame and return the data of the observation that it gives."""
        answer = self.ask(kind, **data)
        assert answer["type"] == "observation", answer
        result: dict[str, Any] = answer["data"]
        return result

    def ping(self) -> None:
        """Send a ping and wait for its pong."""
        self.send(Ping(payload=b"here"))
        assert isinstance(self.next_event(), Pong)

    def vanish(self) -> None:
        """Go without a word."""
        self.socket.close()

    def close(self) -> None:
        """Close as the protocol has it."""
        try:
            self.send(CloseConnection(code=1000))
        finally:
            self.socket.close()

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *_error: object) -> None:
        self.socket.close()
