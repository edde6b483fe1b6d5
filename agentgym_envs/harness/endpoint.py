"""An OpenAI-compatible endpoint on this machine, answered by the policies of episodes."""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from agentgym_envs.harness.requests import (
    POLICY,
    BadRequest,
    ChatRequest,
    answer,
    events,
    read_request,
)


class Endpoint(NamedTuple):
    """The address at which an agent reaches the policy of its episode.

    Attributes:
        base_url: ends in `/v1`; a client's `base_url`.
        api_key: names the episode; a client's `api_key`.
        model: a name for clients that need one. Any will do.
    """

    base_url: str
    api_key: str
    model: str = POLICY


class Ended(NamedTuple):
    """The agent has ended.

    Attributes:
        result: what it returned.
        error: what it raised.
    """

    result: Any = None
    error: BaseException | None = None


class Pending(NamedTuple):
    """A request that waits for its answer."""

    request: ChatRequest
    answers: SimpleQueue[str | BadRequest]


class Session:
    """One episode's agent and its requests.

    Args:
        run: the agent. It is called in a thread with the endpoint.

    Attributes:
        endpoint: the agent's.
    """

    def __init__(self, run: Callable[[Endpoint], Any]) -> None:
        self._arrived: SimpleQueue[Pending | Ended] = SimpleQueue()
        self._over = ""
        self._lock = threading.Lock()
        server = _server()
        self.endpoint = Endpoint(server.base_url, secrets.token_hex(16))
        server.sessions[self.endpoint.api_key] = self
        threading.Thread(target=self._run, args=(run,), name="agent", daemon=True).start()

    def wait(self, seconds: float) -> Pending | Ended:
        """Return the next request, or the agent's end.

        Raises:
            TimeoutError: there is neither within so many seconds.
        """
        try:
            return self._arrived.get(timeout=seconds)
        except Empty:
            raise TimeoutError(
                f"the agent sent no request for {seconds:g} seconds, and did not end"
            ) from None

    def ask(self, request: ChatRequest) -> str:
        """Return the policy's answer to a request, from the thread of its connection.

        Raises:
            BadRequest: the episode is over.
        """
        pending = Pending(request, SimpleQueue())
        with self._lock:
            if self._over:
                raise over(self._over)
            self._arrived.put(pending)
        text = pending.answers.get()
        if isinstance(text, BadRequest):
            raise text
        return text

    def close(self, reason: str) -> None:
        """Refuse the agent's requests from now on, for a reason in words."""
        with self._lock:
            self._over = reason
        ended = None
        with suppress(Empty):
            while True:
                arrived = self._arrived.get_nowait()
                if isinstance(arrived, Pending):
                    arrived.answers.put(over(reason))
                else:
                    ended = arrived
        if ended is not None:  # which is still waited for
            self._arrived.put(ended)

    def _run(self, run: Callable[[Endpoint], Any]) -> None:
        try:
            ended = Ended(run(self.endpoint))
        except (Exception, SystemExit) as error:  # in the verdict, or raised by `HarnessEnv`
            ended = Ended(error=error)
        _server().sessions.pop(self.endpoint.api_key, None)
        self._arrived.put(ended)


def over(reason: str) -> BadRequest:
    """Return the answer to a request of an episode that is over."""
    return BadRequest(f"the episode is over: {reason}", code="episode_over")


class _Server(ThreadingHTTPServer):
    """Serves the sessions of one process, each by its key."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sessions: dict[str, Session] = {}
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, name="endpoint", daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the errors of a connection, but for those of an agent that has gone."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


_servers: dict[int, _Server] = {}
_opening = threading.Lock()


def _server() -> _Server:
    """Return the server of this process. A fork opens its own."""
    with _opening:
        return _servers.get(os.getpid()) or _servers.setdefault(os.getpid(), _Server())


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection's requests."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer a chat completion."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self._refusing():
            session = self._session("/chat/completions")
            request = read_request(body)
            text = session.ask(request)
            if request.stream:
                self._send(200, events(text), kind="text/event-stream")
            else:
                self._send_json(200, answer(text))

    def do_GET(self) -> None:
        """List the one model."""
        with self._refusing():
            self._session("/models")
            model = {"id": POLICY, "object": "model", "created": 0, "owned_by": "agentgym"}
            self._send_json(200, {"object": "list", "data": [model]})

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Send the refusal of a request that cannot be answered."""
        try:
            yield
        except BadRequest as error:
            self._send_json(error.status, error.to_json())

    def _session(self, path: str) -> Session:
        """Return the session of a request to a path."""
        if not self.path.endswith(path):
            message = f"there is no {self.path}; there are /v1/chat/completions and /v1/models"
            raise BadRequest(message, status=404, code="not_found")
        key = (self.headers.get("Authorization") or "").removeprefix("Bearer ").strip()
        session = self.server.sessions.get(key)
        if session is None:
            raise BadRequest(
                "no episode has this API key; take the one that `run` is given",
                status=401,
                code="invalid_api_key",
            )
        return session

    def _send_json(self, status: int, value: dict[str, Any]) -> None:
        self._send(status, json.dumps(value).encode(), kind="application/json")

    def _send(self, status: int, body: bytes, *, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Print no line for each request."""
