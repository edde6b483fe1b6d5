"""Limits the addresses that a browser context may request.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Sequence
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page, Request, Route, WebSocketRoute
from playwright.async_api import Error as PlaywrightError

from agentgym_envs.browsing.addresses import outside_page


class Reach:
    """The addresses that a browser context may reach.

    A context is asked about requests, but not about what they are redirected to; that a tab's own
    session is asked about. A window that a page opens has its first page asked for before there is
    such a session. So an empty page comes first, and the real one once the window is watched.

    Args:
        only: the origins that alone may be asked for anything.
        is_redirected: whether these may redirect elsewhere.
    """

    def __init__(self, only: Sequence[str], *, is_redirected: bool) -> None:
        allowed = "|".join(re.escape(origin.removeprefix("http")) for origin in only)
        # A socket goes with its origin.
        self._outside = re.compile(f"^(?!(?:http|ws)(?:{allowed})/)" if only else "")
        self._is_redirected = is_redirected
        self._watched: set[Page] = set()
        self._waiting: set[str] = set()

    async def limit(self, context: BrowserContext) -> None:
        """Refuse all other requests of a context's pages."""
        if self._is_redirected:
            await context.route("**/*", self._hold)
        await context.route(self._outside, refuse)
        await context.route_web_socket(self._outside, _hang_up)

    async def watch(self, page: Page, session: CDPSession) -> bool:
        """Block a tab's redirects. Return whether its first page is still to come.

        Args:
            page: the tab's.
            session: with it.
        """
        if not self._is_redirected:
            return False

        async def answer(event: dict[str, Any]) -> None:
            which, url = {"requestId": event["requestId"]}, event["request"]["url"]
            with contextlib.suppress(PlaywrightError):  # the tab may be gone
                if self._outside.match(url):
                    body = base64.b64encode(outside_page(url).encode()).decode()
                    headers = [{"name": "Content-Type", "value": "text/html"}]
                    reply = {"responseCode": 502, "responseHeaders": headers, "body": body}
                    await session.send("Fetch.fulfillRequest", {**which, **reply})
                else:
                    await session.send("Fetch.continueRequest", which)

        session.on("Fetch.requestPaused", answer)
        await session.send("Fetch.enable", {"patterns": [{"urlPattern": "http*"}]})
        self._watched.add(page)
        url = _without_fragment(page.url)
        is_waiting = url in self._waiting
        self._waiting.discard(url)
        return is_waiting

    async def _hold(self, route: Route) -> None:
        request = route.request
        is_first = request.is_navigation_request() and _page(request) not in self._watched
        if is_first and request.method == "GET":
            self._waiting.add(_without_fragment(request.url))
            await route.fulfill(content_type="text/html", body="")
        else:
            await route.fallback()


def _page(request: Request) -> Page | None:
    try:
        return request.frame.page
    except PlaywrightError:  # there is none yet
        return None


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _hang_up(socket: WebSocketRoute) -> None:
    """Leave a page's socket without its server."""


async def refuse(route: Route) -> None:
    """Answer a request with the page for blocked addresses."""
    await route.fulfill(status=502, content_type="text/html", body=outside_page(route.request.url))
