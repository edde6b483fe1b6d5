"""Serves the viewer's page and its data, by HTTP on one machine."""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agentgym_envs.machinery.hosts import is_allowed_host
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.gains import success_gain
from benchmarks.viewer.index import Index
from benchmarks.viewer.logged import metric_curve, run_options
from benchmarks.viewer.pages import PAGE, page_files, strict_json
from benchmarks.viewer.runs import Run
from benchmarks.viewer.scenes import episode_credits, scene, tokens

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
READING_SECONDS = 0.6
"""Time limit of one answer's reading of new files. The page asks again at once."""
MAX_SEARCH = 500
"""Characters that are searched for."""
MAX_CREDITS = 64
"""Episodes whose credit one question may ask for: a group's."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ViewerServer(ThreadingHTTPServer):
    """The server of one folder, used as the standard library's.

    Raises:
        OSError: the port is taken.
    """

    daemon_threads = True
    # Binding a port that another process listens on would succeed otherwise.
    allow_reuse_port = False

    def __init__(self, index: Index, *, host: str = LOOPBACK, port: int = 0) -> None:
        self.index = index
        self.host = host
        self.files = page_files()
        # Replaying an episode uses simulators that serve one caller at a time.
        self.replaying = threading.Lock()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error, unless the page closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The page's address."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: ViewerServer
    protocol_version = "HTTP/1.1"
    timeout = 60.0
    """Seconds after which a client that sends and reads nothing is dropped."""
    # Headers and body are sent apart; the second would wait 40 ms for the first to be confirmed.
    disable_nagle_algorithm = True
    server_version = "agentgym"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a GET request."""
        if not is_allowed_host(self.headers.get("Host", ""), self.server.host):
            self._send_json({"error": "this server goes by another name"}, HTTPStatus.FORBIDDEN)
            return
        url = urlsplit(self.path)
        if url.path.startswith("/api/"):
            self._answer(url.path.removeprefix("/api/"), parse_qs(url.query))
            return
        file = self.server.files.get(url.path.removeprefix("/") or PAGE)
        if file is None:
            self._send_json({"error": "there is no such page"}, HTTPStatus.NOT_FOUND)
        else:
            self._send(*file)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Log no requests."""

    def _answer(self, name: str, query: dict[str, list[str]]) -> None:
        answer = _ANSWERS.get(name)
        if answer is None:
            self._send_json({"error": "there is no such question"}, HTTPStatus.NOT_FOUND)
            return
        try:
            body = answer(self.server, {key: values[-1] for key, values in query.items()})
        except ValueError as error:
            self._send_json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        except LookupError as error:
            self._send_json({"error": str(error)}, HTTPStatus.NOT_FOUND)
        except Exception as error:  # the page shows it in this answer's place, and goes on
            logger.exception("no answer to %s", self.path)
            message = f"the viewer broke on this ({type(error).__name__}: {error})"
            self._send_json({"error": message}, HTTPStatus.INTERNAL_SERVER_ERROR)
        else:
            self._send_json(body)

    def _send_json(self, body: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(strict_json(body).encode(), "application/json; charset=utf-8", status)

    def _send(self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        for header, value in _HEADERS.items():
            self.send_header(header, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


_Query = dict[str, str]


def _number(query: _Query, name: str) -> int:
    try:
        return int(query.get(name, ""))
    except ValueError as error:
        raise ValueError(f"{name} must be a whole number, got {query.get(name)!r:.40}") from error


def _index(server: ViewerServer, query: _Query) -> Any:
    """Return the entries newer than those that the page has."""
    is_complete = server.index.update(READING_SECONDS)
    known = _number(query, "epoch") == server.index.epoch
    start = max(0, _number(query, "from")) if known else 0
    return {**server.index.to_json(start), "complete": is_complete}


def _run(server: ViewerServer, query: _Query) -> Run:
    return server.index.runs[_run_number(server, query, "run")]


def _run_number(server: ViewerServer, query: _Query, name: str) -> int:
    number = _number(query, name)
    if not 0 <= number < len(server.index.runs):
        raise LookupError(f"there is no run {number}")
    return number


def _curve(server: ViewerServer, query: _Query) -> Any:
    names = json.loads(query.get("names", "null"))
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if names is not None and not is_list:
        raise ValueError(f"names must be a JSON list of metrics, got {names!r:.60}")
    return metric_curve(_run(server, query), names)


def _gain(server: ViewerServer, query: _Query) -> Any:
    first, second = (_run_number(server, query, name) for name in ("run", "vs"))
    return success_gain(server.index, first, second)


def _view(make: Callable[[Trajectory, Path], Any], server: ViewerServer, query: _Query) -> Any:
    """Return the scene or the tokens of an episode."""
    number = _number(query, "id")
    with server.replaying:
        return make(server.index.trajectory(number), server.index.folder(number))


def _credits(server: ViewerServer, query: _Query) -> Any:
    numbers = query.get("ids", "").split(",")
    if len(numbers) > MAX_CREDITS:
        raise ValueError(f"at most {MAX_CREDITS} episodes are requested at once")
    episodes = [_number({"ids": one}, "ids") for one in numbers]
    for number in episodes:
        server.index.entry(number)
    return [server.index.view(number, lambda t, _: episode_credits(t)) for number in episodes]


def _search(server: ViewerServer, query: _Query) -> Any:
    text = query.get("q", "")
    if len(text) > MAX_SEARCH:
        raise ValueError(f"at most {MAX_SEARCH} characters are searched for, got {len(text)}")
    return server.index.search(text)


_ANSWERS: dict[str, Callable[[ViewerServer, _Query], Any]] = {
    "index": _index,
    "curve": _curve,
    "options": lambda server, query: run_options(_run(server, query)),
    "gain": _gain,
    "trajectory": lambda server, query: server.index.record(_number(query, "id")),
    "scene": partial(_view, scene),
    "tokens": partial(_view, tokens),
    "credits": _credits,
    "search": _search,
}
