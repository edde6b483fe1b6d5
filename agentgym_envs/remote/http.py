"""Asks a server for JSON over HTTP, with the standard library alone."""

from __future__ import annotations

import json
import select
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.secrets import masked_address
from agentgym_envs.remote.tokens import NOT_ALLOWED, authorization, refusal_failure

MAX_REPLY_BYTES = 64 << 20
_PIECE_BYTES = 1 << 20
_SHOWN_CHARACTERS = 300
_HAS_NONE = (404, 405, 501)
_SAFE_IN_PATHS = "!$&'()*+,/:;=@%-._~"


class Reply(NamedTuple):
    """A server's answer: the status, the JSON of the body, and the body's beginning."""

    status: int
    value: Any
    text: str


class JsonServer:
    """A server that is asked for JSON, over a connection that is kept and made again if closed.

    Args:
        url: its address, with the path that all requests begin with.
        timeout: seconds that a request may take.
        token: for the header `Authorization`; None takes the variable's.
    """

    def __init__(self, url: str, *, timeout: float, token: str | None = None) -> None:
        self.url = masked_address(url)
        parts = urlsplit(url)
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._port = parts.hostname or "", parts.port
        self._path, self._query = quote(parts.path.rstrip("/"), safe=_SAFE_IN_PATHS), parts.query
        self._headers = {"Content-Type": "application/json", **authorization(token, url)}
        self._timeout = timeout
        self._connection: HTTPConnection | None = None

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Reply:
        """Send a request.

        Args:
            method: `"GET"` or `"POST"`.
            path: behind the address, with a slash in front.
            body: what is sent as JSON; None sends none.
            **query: parameters of the address.

        Raises:
            EnvFailure: no reply came in time; the message names the address and the cause.
        """
        deadline = time.monotonic() + self._timeout
        target = f"{self._path}{path}"
        parameters = "&".join(part for part in (self._query, urlencode(query)) if part)
        data = None if body is None else json.dumps(body).encode()
        try:
            status, reply = self._request(
                method, f"{target}?{parameters}" if parameters else target, data, deadline
            )
        except TimeoutError as error:
            raise self.failure(path, f"no reply within {self._timeout:g} s") from error
        except (OSError, HTTPException) as error:
            raise self.failure(path, f"{type(error).__name__}: {error}") from error
        text = reply.decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        return Reply(status, value, text[:_SHOWN_CHARACTERS])

    def value(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Send a request that must be answered with status 200, and return the reply's JSON.

        Raises:
            EnvFailure: it is answered otherwise.
        """
        return self._checked(path, self.ask(method, path, body, **query))

    def _checked(self, path: str, reply: Reply) -> Any:
        if reply.status != 200:
            raise self.failure(path, f"status {reply.status}: {reply.text}", reply.status)
        return reply.value

    def optional(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON of an endpoint that a server may lack, or None where it does.

        Raises:
            EnvFailure: it is there, and fails.
        """
        reply = self.ask(method, path, body)
        if reply.status in _HAS_NONE:
            return None
        return self._checked(path, reply)

    def enter(self) -> None:
        """Ask for the greeting, whatever it is.

        Raises:
            AccessDenied: the server asks for another token.
            EnvFailure: it does not answer.
        """
        reply = self.ask("GET", "/")
        if reply.status == NOT_ALLOWED:
            self._checked("/", reply)

    def failure(self, path: str, cause: str, status: int | None = None) -> EnvFailure:
        """Return the error with the address, the cause and an answer's `status`."""
        self.close()
        text = f"the server {self.url} failed at {path}: {cause}"
        return refusal_failure(text, status, self._headers)

    def close(self) -> None:
        """Close the connection, until the next request makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _request(
        self, method: str, target: str, data: bytes | None, deadline: float
    ) -> tuple[int, bytes]:
        connection = self._open(deadline)
        connection.request(method, target, data, self._headers)
        response = connection.getresponse()
        pieces: list[bytes] = []
        while not response.isclosed():
            # A socket's timeout counts from its last byte: a trickle would never end.
            if connection.sock is not None:
                connection.sock.settimeout(_left(deadline))
            pieces.append(response.read1(_PIECE_BYTES))
            if not pieces[-1]:
                break
            if sum(map(len, pieces)) > MAX_REPLY_BYTES:
                raise OSError(f"the reply is longer than {MAX_REPLY_BYTES} bytes")
        response.close()  # at its end, after which the connection takes another request
        if response.will_close:
            self.close()
        return response.status, b"".join(pieces)

    def _open(self, deadline: float) -> HTTPConnection:
        connection = self._connection
        # Servers close silent connections after seconds, and a step must not be sent twice.
        if connection is not None and (connection.sock is None or _has_ended(connection)):
            self.close()
        if self._connection is None:
            self._connection = self._kind(self._host, self._port, timeout=_left(deadline))
            self._connection.connect()
        self._connection.sock.settimeout(_left(deadline))
        return self._connection


def _has_ended(connection: HTTPConnection) -> bool:
    readable, _, _ = select.select([connection.sock], [], [], 0)
    return bool(readable)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
