"""Opens a browser context for an episode, and limits what it may reach."""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import BrowserContext, CDPSession, Route, WebSocketRoute
from playwright.async_api import Error as PlaywrightError

from agentgym_envs.webarena.browsers.addresses import outside_page
from agentgym_envs.webarena.browsers.chromium.pool import Chromium

# As in the text browser: the sites themselves say what is wrong with a form, not the browser; and
# who goes back finds a page as the site sends it, not what was typed there before.
_PLAIN_FORMS = """document.addEventListener('DOMContentLoaded', () => {
    for (const form of document.forms) { form.noValidate = true; form.autocomplete = 'off'; }
})"""


class Reply(NamedTuple):
    """What answers a request in the network's place."""

    content_type: str
    body: bytes


Answering = Callable[[str], Reply | None]
"""Answers an address; None for one that nobody may open."""


async def open_context(
    chromium: Chromium,
    *,
    viewport: tuple[int, int],
    har: Path | None,
    only: Sequence[str],
    answer: Answering | None = None,
) -> BrowserContext:
    """Open a context; to be called in the browser's thread.

    Args:
        chromium: the browser.
        viewport: width and height of its windows.
        har: a file for its network traffic, written when it is closed.
        only: the origins that alone may be asked for anything: no other episode's, and nothing
            else that listens on this machine. See `refuse_redirects` for where a site leads on to.
        answer: answers all requests, so that none leaves the browser; `only` does not count then.
    """
    options: dict[str, Any] = {
        "viewport": {"width": viewport[0], "height": viewport[1]},
        "locale": "en-US",
        "timezone_id": "UTC",
        "service_workers": "block",
        "accept_downloads": False,
    }
    if har is not None:
        options |= {"record_har_path": har, "record_har_content": "embed"}
    context = await chromium.new_context(**options)
    if answer is not None:
        await context.route("**/*", _answering(answer))
        return context
    await context.route(_outside(only), _refuse)
    await context.route_web_socket(_outside(only), _hang_up)
    return context


async def add_headers(context: BrowserContext, headers: Mapping[str, Mapping[str, str]]) -> None:
    """Send further HTTP headers with each request to an origin, and to no other."""
    for origin, values in headers.items():
        await context.route(re.compile(f"^{re.escape(origin)}/"), _adding(values))


async def make_forms_plain(context: BrowserContext) -> None:
    """Have the pages of a context show forms as the text browser does."""
    await context.add_init_script(_PLAIN_FORMS)


async def refuse_redirects(session: CDPSession, only: Sequence[str]) -> None:
    """Refuse what a tab is redirected to outside of `only`; a context's routes see no redirects."""
    outside = _outside(only)

    async def answer(event: dict[str, Any]) -> None:
        which, url = {"requestId": event["requestId"]}, event["request"]["url"]
        with contextlib.suppress(PlaywrightError):  # the tab may be gone
            if outside.match(url):
                body = base64.b64encode(outside_page(url).encode()).decode()
                headers = [{"name": "Content-Type", "value": "text/html"}]
                reply = {"responseCode": 502, "responseHeaders": headers, "body": body}
                await session.send("Fetch.fulfillRequest", {**which, **reply})
            else:
                await session.send("Fetch.continueRequest", which)

    session.on("Fetch.requestPaused", answer)
    await session.send("Fetch.enable", {"patterns": [{"urlPattern": "http*"}]})


def _outside(only: Sequence[str]) -> re.Pattern[str]:
    """Match the addresses that are of none of these origins; a socket goes with its origin."""
    allowed = "|".join(re.escape(origin.removeprefix("http")) for origin in only)
    return re.compile(f"^(?!(?:http|ws)(?:{allowed})/)") if only else re.compile("")


def _answering(answer: Answering) -> Callable[[Route], Coroutine[Any, Any, None]]:
    async def answer_route(route: Route) -> None:
        reply = answer(route.request.url)
        if reply is None:
            await _refuse(route)
        else:
            await route.fulfill(status=200, content_type=reply.content_type, body=reply.body)

    return answer_route


def _adding(values: Mapping[str, str]) -> Callable[[Route], Coroutine[Any, Any, None]]:
    async def pass_on(route: Route) -> None:
        await route.fallback(headers={**route.request.headers, **values})

    return pass_on


def _hang_up(socket: WebSocketRoute) -> None:
    """Leave a page's socket without its server."""


async def _refuse(route: Route) -> None:
    await route.fulfill(status=502, content_type="text/html", body=outside_page(route.request.url))
