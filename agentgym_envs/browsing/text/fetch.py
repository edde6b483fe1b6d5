"""Calls a site in process: one request, one answer. Redirects are the caller's to follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from agentgym_envs.sites.apps import open_site
from agentgym_envs.sites.names import find_site
from agentgym_envs.sites.state import SiteState
from agentgym_envs.sites.web import STATE_KEY, Site


class UnknownHost(Exception):
    """No embedded site has this host name."""


@dataclass(frozen=True)
class Answer:
    """A site's response.

    Attributes:
        status: HTTP's.
        headers: (lower-case name, value) pairs; `set-cookie` may occur several times.
        body: decoded.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str

    def header(self, name: str) -> str | None:
        """Return the first header of this lower-case name."""
        return next((value for key, value in self.headers if key == name), None)


def fetch(
    state: SiteState,
    url: str,
    *,
    form: Sequence[tuple[str, str]] | None = None,
    cookies: Mapping[str, str] | None = None,
    referer: str = "",
    sites: Callable[[str], Site] = open_site,
) -> Answer:
    """Request a canonical address.

    Args:
        state: the episode's databases.
        url: such as `http://shopping.test/search?q=lamp`.
        form: the fields to post; None sends a GET.
        cookies: the site's cookies.
        referer: the page that the request came from.
        sites: returns the site of a name.

    Raises:
        UnknownHost: the address is none of an embedded site.
    """
    parts = urlsplit(url)
    site = find_site(parts.netloc)
    if parts.scheme != "http" or site is None:
        raise UnknownHost(url)
    body = b"" if form is None else urlencode(list(form)).encode()
    headers = [(b"host", parts.netloc.encode())]
    if form is not None:
        headers.append((b"content-type", b"application/x-www-form-urlencoded"))
        headers.append((b"content-length", str(len(body)).encode()))
    if cookies:
        pairs = "; ".join(f"{name}={value}" for name, value in cookies.items())
        headers.append((b"cookie", pairs.encode()))
    if referer:
        headers.append((b"referer", referer.encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET" if form is None else "POST",
        "scheme": "http",
        "path": unquote(parts.path) or "/",
        "raw_path": (parts.path or "/").encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": headers,
        "server": (parts.netloc, 80),
        "client": ("127.0.0.1", 0),
        STATE_KEY: state,
    }
    return _run(sites(site).app, scope, body)


def _run(app: Any, scope: dict[str, Any], body: bytes) -> Answer:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    call = app(scope, receive, send)
    try:
        call.send(None)
    except StopIteration:
        pass
    else:
        call.close()
        raise RuntimeError("a site waited for something; in process nothing can be waited for")
    start = sent[0]
    headers = tuple((k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in start["headers"])
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(start["status"], headers, content.decode("utf-8", "replace"))
