"""Runs the server with uvicorn, with bounds, until SIGINT or SIGTERM.

Uvicorn answers whatever has arrived, and waits for the rest without a limit.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from wrappers.serving.limits import CLOSE_SECONDS
from wrappers.serving.sessions import Sessions

_FLUSH_SECONDS = 2.0
"""Seconds for a client to read the rest once the server stops."""

_BUSY = b'{"detail": "too many connections; ask again later"}'
_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_BUSY), _BUSY)
)
_LOG_EVERY = 60.0

_log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """Uvicorn that stops without waiting for clients that do not read."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        asyncio.get_running_loop().set_exception_handler(log_seldom())
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the connections, then the application."""
        timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self._abort_closing)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()

    def _abort_closing(self) -> None:
        for connection in list(self.server_state.connections):
            if connection.transport.is_closing():
                connection.transport.abort()


def make_server(app: Starlette, *, host: str) -> uvicorn.Server:
    """Return uvicorn with this server's bounds. Its `serve` takes the listening sockets."""
    sessions: Sessions = app.state.sessions
    limits = sessions.limits
    config = uvicorn.Config(
        app,
        host=host,
        http=bounded_protocol(limits.max_connections, limits.arrival_timeout),
        ws="wsproto",
        ws_max_size=limits.max_message,
        ws_per_message_deflate=False,  # texts are short, and a bomb unpacks before it is measured
        log_level="warning",  # its lines of requests would hold tokens
        access_log=False,
        timeout_graceful_shutdown=int(CLOSE_SECONDS),
        h11_max_incomplete_event_size=1 << 16,
    )
    return Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, or raise OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def run(app: Starlette, listener: socket.socket, *, host: str, names: Sequence[str]) -> int:
    """Serve until SIGINT or SIGTERM, and return the exit status. `names` are the environments'."""
    address = f"[{host}]" if ":" in host else host
    url = f"http://{address}:{listener.getsockname()[1]}"
    print(f"serving {', '.join(f'{url}/{name}' for name in names)}; Ctrl-C ends", flush=True)
    # Uvicorn raises the signal again once it has stopped. What ends simulators and browsers has to
    # run then, which it would not where SIGTERM ends the process in its own way.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        make_server(app, host=host).run(sockets=[listener])
    except KeyboardInterrupt:
        print()
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def bounded_protocol(max_connections: int, arrival_timeout: float) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol with bounds.

    Above `max_connections`, WebSockets included, a connection is answered 503 and closed. A whole
    request must arrive, and an answer be read, within `arrival_timeout` seconds.
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
