"""Bounds on a server's connections: their number, and the seconds of a request.

Uvicorn answers whatever has arrived, and waits for the rest without a limit.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_BUSY = b'{"detail": "too many connections; ask again later"}'
_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_BUSY), _BUSY)
)
_LOG_EVERY = 60.0

_log = logging.getLogger(__name__)


def bounded_protocol(max_connections: int, arrival_timeout: float) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol with bounds.

    Args:
        max_connections: open ones, WebSockets included; one more is answered 503 and closed.
        arrival_timeout: seconds in which a request must have arrived whole, and in which the client
            must have read what is written.
    """

    class BoundedProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            transport.set_write_buffer_limits(0)  # writing pauses as soon as the client is behind
            if len(self.connections) > max_connections:
                transport.write(_ANSWER)
                transport.close()
                return
            self._await_request()

        def data_received(self, data: bytes) -> None:
            if self._timer is None:
                self._await_request()
            super().data_received(data)
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
                self._stop_waiting()

        def handle_websocket_upgrade(self, event: h11.Request) -> None:
            self._stop_waiting()
            super().handle_websocket_upgrade(event)

        def pause_writing(self) -> None:
            self._unread = self.loop.call_later(arrival_timeout, self.transport.abort)
            super().pause_writing()

        def resume_writing(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
            super().resume_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            if self._unread is not None:
                self._unread.cancel()
            super().connection_lost(exc)

        def _await_request(self) -> None:
            self._timer = self.loop.call_later(arrival_timeout, self.transport.abort)

        def _stop_waiting(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return BoundedProtocol


def log_seldom() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Return a handler of a loop's errors that logs want of file handles once a minute.

    asyncio reports it for every place in the backlog, thousands of times a second.
    """
    last: dict[int | None, float] = {}

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not (isinstance(error, OSError) and "accept" in str(context.get("message"))):
            loop.default_exception_handler(context)
        elif time.monotonic() - last.get(error.errno, -_LOG_EVERY) >= _LOG_EVERY:
            last[error.errno] = time.monotonic()
            _log.warning("no connection can be accepted: %s; it is tried again", error)

    return handle
