"""A way to a server that can be cut, held up, or answered with a 500."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self
from urllib.parse import urlsplit

_500 = b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_AT_ONCE = 65_536


class Gate:
    """Forwards TCP connections to a server, from a port of its own.

    Args:
        url: the server's address.

    Attributes:
        url: the address that goes through the gate.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname or "", parts.port or 80)
        self._open = threading.Event()
        self._open.set()
        self._is_answered = True
        self._is_over = False
        self._live: set[socket.socket] = set()
        self._listener = self._listen(0)
        self._port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def break_(self, action: str) -> None:
        """Refuse connections (`kill`), let them hang (`stop`) or answer with a 500 (`500`)."""
        self._is_answered = action != "500"
        if action == "kill":
            self._stop_listening()
        elif action == "stop":
            self._open.clear()
        if action != "stop":
            self._close_all()

    def mend(self) -> None:
        """Let everything through again."""
        self._is_answered = True
        if self._listener.fileno() < 0 and not self._is_over:
            self._listener = self._listen(self._port)
        self._open.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over = True
        self._stop_listening()
        self._close_all()
        self._open.set()

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port), backlog=256)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _stop_listening(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # or `accept` would hold the port
        self._listener.close()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            self._live.add(client)
            if not self._is_answered:
                client.recv(_AT_ONCE)
                client.sendall(_500)
                return
            with socket.create_connection(self._server) as server:
                self._live.add(server)
                back = threading.Thread(target=self._forward, args=(server, client), daemon=True)
                back.start()
                self._forward(client, server)
                back.join()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_AT_ONCE):
                self._open.wait()
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _close_all(self) -> None:
        while self._live:
            with contextlib.suppress(OSError):
                self._live.pop().shutdown(socket.SHUT_RDWR)
