"""Loads pages: cookies, redirects, and the pages that a browser shows where no site answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol
from urllib.parse import urlsplit

from agentgym_envs.browsing import addresses
from agentgym_envs.browsing.addresses import outside_page
from agentgym_envs.browsing.text.document import Document
from agentgym_envs.browsing.text.fetch import Answer, UnknownHost
from agentgym_envs.sites.names import ORIGINS
from agentgym_envs.sites.state import SiteState

MAX_REDIRECTS = 20
_KEEP_METHOD = (307, 308)
_REDIRECTS = (301, 302, 303, *_KEEP_METHOD)

Fields = Sequence[tuple[str, str]]


class Fetch(Protocol):
    """The type of `fetch.fetch`: one request, one response."""

    def __call__(
        self,
        state: SiteState,
        url: str,
        *,
        form: Fields | None = None,
        cookies: Mapping[str, str] | None = None,
        referer: str = "",
    ) -> Answer:
        """Request an address. Raises `UnknownHost` if no site has it."""


@dataclass(frozen=True)
class Loaded:
    """A loaded page.

    Attributes:
        document: the page; its `url` is where the redirects ended.
        was_posted: the page itself answers a POST; it cannot be fetched again.
    """

    document: Document
    was_posted: bool


class Loader:
    """Fetches pages with the cookies of one episode.

    Args:
        state: the episode's databases.
        fetch: carries out the requests.
        cookies: what is set before, `{site: {name: value}}`.
    """

    def __init__(
        self, state: SiteState, fetch: Fetch, cookies: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._state = state
        self._fetch = fetch
        self._cookies: dict[str, dict[str, str]] = {
            _host(ORIGINS.get(site, f"http://{site}")): dict(pairs)
            for site, pairs in cookies.items()
        }

    def copy(self) -> Loader:
        """Return a loader that starts with the same cookies but shares none later."""
        copied = Loader(self._state, self._fetch, {})
        copied._cookies = {host: dict(pairs) for host, pairs in self._cookies.items()}
        return copied

    def load(self, url: str, *, form: Fields | None = None, referer: str = "") -> Loaded | None:
        """Request a page and follow redirects.

        Returns:
            The page, an error page included; None where the answer is nothing to show: empty by
            its status, or a file to keep.
        """
        if url == addresses.BLANK:
            return Loaded(Document(url, ""), was_posted=False)
        for _ in range(MAX_REDIRECTS):
            asked = addresses.without_fragment(url)
            host = _host(asked)
            sent = _referer(referer, asked)
            cookies = self._cookies.get(host)
            try:
                answer = self._fetch(self._state, asked, form=form, cookies=cookies, referer=sent)
            except UnknownHost:
                return Loaded(Document(url, outside_page(url), status=502), was_posted=False)
            self._keep_cookies(host, answer)
            target = answer.header("location") if answer.status in _REDIRECTS else None
            if target is None:
                break
            url = _followed(url, target)
            form = form if answer.status in _KEEP_METHOD else None
        else:
            return Loaded(Document(url, _endless(url), status=310), was_posted=False)
        return _shown(url, answer, was_posted=form is not None)

    def _keep_cookies(self, host: str, answer: Answer) -> None:
        for header, content in answer.headers:
            if header != "set-cookie":
                continue
            pair, *attributes = content.split(";")
            name, _, value = (part.strip() for part in pair.partition("="))
            cookies = self._cookies.setdefault(host, {})
            if any(word.strip().lower().replace(" ", "") == "max-age=0" for word in attributes):
                cookies.pop(name, None)
            elif name:
                cookies[name] = value.removeprefix('"').removesuffix('"')


def _shown(url: str, answer: Answer, *, was_posted: bool) -> Loaded | None:
    if answer.status in (204, 205):
        return None
    if (answer.header("content-disposition") or "").lower().startswith("attachment"):
        return None
    kind = (answer.header("content-type") or "text/html").partition(";")[0].strip().lower()
    source = answer.body
    if kind not in ("text/html", "application/xhtml+xml"):
        source = f"<body><pre>{escape(answer.body)}</pre></body>"
    return Loaded(Document(url, source, status=answer.status), was_posted=was_posted)


def _followed(url: str, target: str) -> str:
    address = addresses.resolved(url, target) or addresses.BLANK
    fragment = url.partition("#")[2]
    return f"{address}#{fragment}" if fragment and "#" not in address else address


def _referer(referer: str, url: str) -> str:
    """Return the `Referer` for a request: to other sites only the origin."""
    if not referer.startswith("http"):
        return ""
    if addresses.origin(referer) == addresses.origin(url):
        return addresses.without_fragment(referer)
    return addresses.origin(referer) + "/"


def _endless(url: str) -> str:
    return (
        "<title>This page isn't working</title><body><main><h1>This page isn't working</h1>"
        f"<p>{escape(_host(url))} redirected you too many times.</p></main></body>"
    )


def _host(url: str) -> str:
    return urlsplit(url).netloc
