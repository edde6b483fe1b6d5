"""Runs the server with uvicorn until SIGINT or SIGTERM."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Sequence

import uvicorn
from starlette.applications import Starlette

from wrappers.serving.connections import bounded_protocol, log_seldom
from wrappers.serving.limits import CLOSE_SECONDS
from wrappers.serving.sessions import Sessions

_FLUSH_SECONDS = 2.0
"""How long a client may take to read what is left once the server stops."""


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
    """Return a socket that listens.

    Raises:
        OSError: the address is taken, or is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def run(app: Starlette, listener: socket.socket, *, host: str, names: Sequence[str]) -> int:
    """Serve until SIGINT or SIGTERM.

    Args:
        app: the server.
        listener: what `listen` returned.
        host: what it listens on.
        names: of the environments, for the first line that is printed.

    Returns:
        the exit status.
    """
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
