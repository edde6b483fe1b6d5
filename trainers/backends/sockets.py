"""The sockets of an HTTP client, to end requests that are under way."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from socket import SHUT_RDWR, socket
from threading import Lock
from typing import Any
from weakref import WeakSet

import httpx


class Sockets:
    """The sockets of a client, to wake up who reads from one: closing it alone does not."""

    def __init__(self) -> None:
        self._known: WeakSet[socket] = WeakSet()
        self._lock = Lock()

    def watch(self, request: httpx.Request) -> None:
        """Have httpx report the connections that a request opens (its `trace` extension)."""
        request.extensions["trace"] = self._see

    def shut_down(self) -> None:
        """End all connections for both sides."""
        with self._lock:
            for one in self._known:
                with suppress(OSError):  # it has ended by itself
                    one.shutdown(SHUT_RDWR)

    def _see(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._known.add(info["return_value"].get_extra_info("socket"))
