"""A session with an OpenEnv server: one WebSocket, one frame there and one back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from agentgym_envs.errors import EnvFailure, needs_extra
from agentgym_envs.machinery.secrets import masked, masked_address
from agentgym_envs.remote.tokens import authorization, refusal_failure

with needs_extra("remote", "playing the environment of an OpenEnv server"):
    from websockets.exceptions import ConnectionClosed, WebSocketException
    from websockets.sync.client import ClientConnection, connect

MAX_FRAME_BYTES = 100 << 20
_CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 1.0
_PING_SECONDS = 20.0
_ANSWERS = {"reset": "observation", "step": "observation"}
_REFUSALS = ("VALIDATION_ERROR", "UNKNOWN_TYPE")


class Refusal(ValueError):
    """The server refuses a message.

    The error's text says why.
    """


class ServerError(EnvFailure):
    """A server answered with an error.

    Attributes:
        code: OpenEnv's word for it.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Session:
    """One session, for which the server holds an environment of its own.

    A thread of the library answers the server's pings while nobody asks, as during an optimizer
    step.

    Args:
        url: the server's, `http://host:port`.
        timeout: seconds that an answer may take.
        token: for the header `Authorization`; None takes the variable's.

    Raises:
        EnvFailure: there is no connection.
    """

    def __init__(self, url: str, *, timeout: float, token: str | None = None) -> None:
        self.url = masked_address(url)
        self._timeout = timeout
        parts = urlsplit(url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        address = parts._replace(
            scheme=scheme,
            netloc=parts.netloc.rpartition("@")[2],  # the header holds user and password
            path=f"{parts.path.rstrip('/')}/ws",
        ).geturl()
        headers = authorization(token, url)
        try:
            opening = connect(
                address,
                additional_headers=headers,
                open_timeout=min(_CONNECT_SECONDS, timeout),
                close_timeout=_CLOSE_SECONDS,
                # Pings keep the way open; a server that is busy may answer late.
                ping_interval=_PING_SECONDS,
                ping_timeout=None,
                max_size=MAX_FRAME_BYTES,
                compression=None,
                proxy=None,
            )
            # The library wants a `with`; `close` ends what this begins.
            self._connection: ClientConnection = opening.__enter__()
        except (OSError, WebSocketException) as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            text = f"the server {self.url} failed: no connection ({_said(error)})"
            raise refusal_failure(text, status, headers) from error

    def ask(self, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Send a frame and return the content of the answer.

        Where no answer is read, the session is over: it would answer what is asked next.

        Raises:
            Refusal: the server does not take it, and nothing has happened.
            ServerError: the server answers with another error.
            EnvFailure: no answer came, or it cannot be read.
        """
        is_answered = False
        try:
            frame = json.loads(self._exchange(json.dumps({"type": kind, "data": data})))
            is_answered = True
            carried = frame["data"]
            if not isinstance(carried, dict):
                raise TypeError(f"data is a {type(carried).__name__}")
            if frame["type"] == "error":
                raise self._error(carried)
            if frame["type"] != _ANSWERS.get(kind, kind):
                raise TypeError(f"a {kind} is answered by a frame of type {frame['type']!r:.40}")
        except TimeoutError as error:
            raise self._failure(kind, f"no answer within {self._timeout:g} s") from error
        except (OSError, WebSocketException) as error:
            raise self._failure(kind, f"the session is lost ({_said(error)})") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            if isinstance(error, Refusal):
                raise
            raise self._failure(kind, f"its answer has not OpenEnv's form ({error!r})") from error
        finally:
            if not is_answered:
                self._connection.close_socket()
        return carried

    def _exchange(self, frame: str) -> str | bytes:
        """Send a frame and return the next one, of which an error may have been sent before."""
        try:
            early = self._connection.recv(timeout=0)
        except TimeoutError:
            pass
        else:
            if json.loads(early)["type"] != "error":
                raise TypeError("a frame that nobody asked for")
            return early
        try:
            self._connection.send(frame)
        except ConnectionClosed:
            pass  # why it was closed stands in what it sent before
        return self._connection.recv(timeout=self._timeout)

    def close(self) -> None:
        """End the session."""
        try:
            self._connection.send(json.dumps({"type": "close", "data": {}}))
        except (OSError, WebSocketException):
            pass
        self._connection.close()

    def _error(self, data: Mapping[str, Any]) -> Exception:
        code, message = str(data.get("code", "")), str(data.get("message", ""))
        if code in _REFUSALS:
            return Refusal(message)
        return ServerError(f"the server {self.url} failed: {message} ({code})", code)

    def _failure(self, kind: str, cause: str) -> EnvFailure:
        self._connection.close_socket()
        return EnvFailure(f"the server {self.url} failed at {kind}: {cause}")


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {masked(str(error))}"
