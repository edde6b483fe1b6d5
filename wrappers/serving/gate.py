"""Checks of requests: the Host and Origin headers, the token, the length of bodies."""

from __future__ import annotations

import base64
import json
from hmac import compare_digest
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentgym_envs.machinery.hosts import is_allowed_host

_OPEN_TO_ALL = "health"
"""The route that container runtimes probe, which needs no token."""


class _TooLong(Exception):
    """A body is longer than is read."""


class Gate:
    """Middleware that refuses requests before anything reads them.

    Args:
        app: the next application.
        host: the server's address.
        token: the token of every client. None needs none, and admits this machine's own names only,
            which no page of another site can use.
        max_body: bytes of the longest body.
    """

    def __init__(self, app: ASGIApp, *, host: str, token: str | None, max_body: int) -> None:
        self._app = app
        self._host = host
        self._token = token
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._with_bounded_body(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> tuple[int, str] | None:
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if origin is not None and origin.partition("://")[2] != host:
            return 403, f"the Origin {origin!r:.80} is another site's; send none"
        if self._token is None:
            if is_allowed_host(host, self._host):
                return None
            return 403, f"the Host {host!r:.80} names another server; use localhost or an address"
        if scope["path"].rpartition("/")[2] == _OPEN_TO_ALL or self._is_shown(scope, headers):
            return None
        return 401, "this server asks for a token: Authorization: Bearer TOKEN, or ?token=TOKEN"

    def _is_shown(self, scope: Scope, headers: dict[bytes, str]) -> bool:
        assert self._token is not None
        kind, _, value = headers.get(b"authorization", "").partition(" ")
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if kind.lower() == "bearer":
            tokens.append(value.strip())
        elif kind.lower() == "basic":  # http://anybody:TOKEN@host, where a client takes only a URL
            tokens.append(_password(value))
        return any(compare_digest(one.encode(), self._token.encode()) for one in tokens)

    async def _with_bounded_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = 0
        begun = False

        async def bounded() -> Message:
            nonlocal length
            message = await receive()
            length += len(message.get("body", b""))
            if length > self._max_body:
                raise _TooLong
            return message

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, bounded, watched)
        except ClientDisconnect:  # in the middle of its body: nobody waits for an answer
            return
        except _TooLong:
            if not begun:
                text = f"the body is longer than {self._max_body} bytes"
                await _refuse(scope, receive, send, 413, text)


def _password(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    prefix = ""
    if scope["type"] == "websocket":
        await receive()
        prefix = "websocket."
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
    body = json.dumps({"detail": text, "error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 413:
        headers.append((b"connection", b"close"))
    await send({"type": f"{prefix}http.response.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}http.response.body", "body": body})
