"""Serves the embedded sites to a real browser: one server per process, on the loopback only.

Every episode has host names of its own, `http://shopping.ep12.localhost:PORT/`, which browsers take
for the loopback without asking anybody; the host name tells the site and whose databases to use.

The sites' handlers run one at a time in the server's thread and never wait inside. The episode's
own thread uses its databases between actions only, and `Episode.wait` tells when the server has
none of its requests in hand; so no two threads ever use a database at once.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from pathlib import Path

import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from agentgym_envs.browsing.chromium.per_process import OnePerProcess
from agentgym_envs.errors import EnvFailure
from agentgym_envs.sites.apps import open_site
from agentgym_envs.sites.names import ORIGINS
from agentgym_envs.sites.state import SiteState
from agentgym_envs.sites.web import ORIGINS_KEY, STATE_KEY, Site

_HOST = re.compile(r"([a-z-]+)\.ep(\d{1,18})\.localhost(?::\d+)?")
_LABELS = {origin.removeprefix("http://").removesuffix(".test"): s for s, origin in ORIGINS.items()}
_LAYOUT = Path(__file__).parents[2] / "sites" / "layout"
_ABSOLUTE = re.compile(r"//|[A-Za-z][A-Za-z0-9+.-]*:")
_LEADING_ON = '<!DOCTYPE html><title></title><meta http-equiv="refresh" content="0; url={}">'
_START_SECONDS = 20.0
_END_SECONDS = 3.0


class Episode:
    """One episode on the server.

    Args:
        number: of the episode, in this process.
        state: its databases.
        port: the server's.

    Attributes:
        origins: `{site: origin}`, as the browser reaches the sites.
    """

    def __init__(self, number: int, state: SiteState, port: int) -> None:
        self.number = number
        self.state = state
        self.origins: Mapping[str, str] = {
            site: f"http://{label}.ep{number}.localhost:{port}" for label, site in _LABELS.items()
        }
        self._idle = threading.Condition()
        self._in_hand = 0
        self._error: Exception | None = None

    def wait(self, timeout: float) -> None:
        """Wait until the server has no request of this episode in hand.

        Raises:
            EnvFailure: it still has one when the time is up, or a site broke while answering one.
        """
        with self._idle:
            if not self._idle.wait_for(lambda: self._in_hand == 0, timeout):
                raise EnvFailure(f"the sites' server did not answer within {timeout:g} s")
            error, self._error = self._error, None
        if error is not None:
            raise EnvFailure(f"a site broke while answering a request: {error!r}") from error

    def begin(self) -> None:
        """Note that a request came in."""
        with self._idle:
            self._in_hand += 1

    def end(self, error: Exception | None = None) -> None:
        """Record that a request was answered, or its failure."""
        with self._idle:
            self._in_hand -= 1
            self._error = self._error or error
            self._idle.notify_all()


class SiteServer:
    """The server: a thread with an event loop, listening on a free port of the loopback.

    Args:
        sites: returns a site by its name.

    Raises:
        EnvFailure: it does not start.
    """

    def __init__(self, sites: Callable[[str], Site] = open_site) -> None:
        self._sites = sites
        self.episodes: dict[int, Episode] = {}
        self._next = 1
        self._lock = threading.Lock()
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            self._answer,
            interface="asgi3",
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            # A browser that posts a form just as its connection is closed would not post again.
            timeout_keep_alive=3600,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="webarena-sites", daemon=True)
        self._thread.start()
        if not self._started.wait(_START_SECONDS):
            raise EnvFailure(f"the sites' server did not start within {_START_SECONDS:g} s")

    @property
    def alive(self) -> bool:
        """It answers, as far as is known."""
        return self._thread.is_alive() and not self._server.should_exit

    def open(self, state: SiteState) -> Episode:
        """Begin to serve an episode's databases."""
        with self._lock:
            episode = Episode(self._next, state, self.port)
            self._next += 1
            self.episodes[episode.number] = episode
            return episode

    def forget(self, episode: Episode) -> None:
        """Serve an episode no longer: its host names answer 404."""
        self.episodes.pop(episode.number, None)

    def close(self) -> None:
        """End the server."""
        self._server.should_exit = True
        self._server.force_exit = True  # browsers keep their connections open
        self._thread.join(_END_SECONDS)
        self._socket.close()

    def _serve(self) -> None:
        self._socket.listen(1024)  # from here on connections wait for the loop to begin
        self._started.set()
        self._server.run(sockets=[self._socket])

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = _HOST.fullmatch(Request(scope).headers.get("host", ""))
        episode = None if match is None else self.episodes.get(int(match[2]))
        if match is None or episode is None or match[1] not in _LABELS:
            await PlainTextResponse("There is no such host here.", 404)(scope, receive, send)
            return
        site = _LABELS[match[1]]
        if scope["path"].startswith("/static/") or scope["path"] == "/favicon.ico":
            await _static(self._sites(site), scope["path"])(scope, receive, send)
            return
        episode.begin()
        try:
            inner = {**scope, STATE_KEY: episode.state, ORIGINS_KEY: episode.origins}
            await self._sites(site).app(inner, receive, _staying(episode, send))
        except ClientDisconnect:
            episode.end()
        except Exception as error:
            episode.end(error)
            raise
        else:
            episode.end()


def _staying(episode: Episode, send: Send) -> Send:
    """Send no redirect that leaves the episode's sites: the browser would follow it unasked.

    A page that leads on stands in for it. What the browser asks for then passes its gate.
    """
    body: bytes | None = None

    async def send_staying(message: Message) -> None:
        nonlocal body
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            target = headers.get(b"location", b"").decode("latin-1")
            if _leaves(target, episode):
                body = _LEADING_ON.format(escape(target)).encode()
                cookies = [pair for pair in message["headers"] if pair[0] == b"set-cookie"]
                cookies += [(b"content-type", b"text/html"), (b"content-length", b"%d" % len(body))]
                message = {**message, "status": 200, "headers": cookies}
        elif body is not None:
            message = {**message, "body": body}
        await send(message)

    return send_staying


def _leaves(target: str, episode: Episode) -> bool:
    if not _ABSOLUTE.match(target):
        return False
    return not any(
        target == origin or target.startswith((f"{origin}/", f"{origin}?"))
        for origin in episode.origins.values()
    )


def _static(site: Site, path: str) -> Response:
    content = _styles(site).get(path)
    if content is None:  # the browser asks for an icon by itself; no handler should see that
        return PlainTextResponse("There is no such file.", 404)
    return Response(content, media_type="text/css", headers={"cache-control": "max-age=3600"})


@cache
def _styles(site: Site) -> dict[str, str]:
    files = {
        "/static/base.css": _LAYOUT / "base.css",
        "/static/theme.css": site.folder / "theme.css",
    }
    return {path: file.read_text("utf-8") for path, file in files.items() if file.exists()}


_SHARED: OnePerProcess[SiteServer] = OnePerProcess(SiteServer)


def shared_server() -> SiteServer:
    """Return this process's living server, started if need be.

    Raises:
        EnvFailure: it does not start.
    """
    return _SHARED.get()


def close_server() -> None:
    """End this process's server, if it runs. The next episode starts another."""
    _SHARED.close()
