"""Reads a retrieval server's URL: its endpoint, and its form without secrets."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

from agentgym_envs.machinery.secrets import MASK, check_revealed, hide_address, masked_address

_ENDPOINT = "/retrieve"
_SENT_AS_IT_IS = "!$&'()*+,/:;=?@%-._~"


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server.

    Attributes:
        is_secure: it speaks https.
        host: its host.
        port: its port; None is the protocol's own.
        target: path and query of a request.
        headers: what a request's headers say of who asks.
        shown: the URL with `***` for its password and for the values of its query.
    """

    is_secure: bool
    host: str
    port: int | None
    target: str = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    shown: str


def read_url(url: Any) -> ServerAddress:
    """Read `http[s]://[user:password@]host[:port][/path][?query]`.

    `/retrieve` is added to a path that does not end with it. User and password become an
    `Authorization` header (Basic); the query is sent with every request.

    Raises:
        ValueError: the URL has another form; the message shows it without its secrets.
    """
    if isinstance(url, str):
        check_revealed(url)
        hide_address(url)
    try:
        parts = urlsplit(url)
        port = parts.port
        is_readable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except (ValueError, TypeError, AttributeError):
        is_readable = False
    if not is_readable:
        raise ValueError(
            f"retriever URL {masked_address(url)!r:.200} is not of the form 'http://host:port', "
            "or 'https://user:password@host:port/path?query' with a port of 0 to 65535"
        ) from None
    path = quote(parts.path.rstrip("/"), safe=_SENT_AS_IT_IS)
    if not path.endswith(_ENDPOINT):
        path += _ENDPOINT
    query = quote(parts.query, safe=_SENT_AS_IT_IS)
    assert parts.hostname is not None
    return ServerAddress(
        is_secure=parts.scheme == "https",
        host=parts.hostname,
        port=port,
        target=f"{path}?{query}" if query else path,
        headers=_authorization(parts),
        shown=f"{parts.scheme}://{_shown_place(parts)}{path}{_shown_query(query)}",
    )


def _authorization(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(credentials.encode()).decode()}"}


def _shown_place(parts: SplitResult) -> str:
    who, at, place = parts.netloc.rpartition("@")
    user, colon, _ = who.partition(":")
    # A name without a password is as a rule a token.
    return f"{user if colon else ''}{colon}{MASK}@{place}" if at else place


def _shown_query(query: str) -> str:
    if not query:
        return ""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return "?" + "&".join(f"{name}={MASK}" if equals else MASK for name, equals, _ in pairs)
