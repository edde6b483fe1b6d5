"""Opens a browser context for an episode."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import BrowserContext, Route

from agentgym_envs.browsing.chromium.pool import Chromium
from agentgym_envs.browsing.chromium.reach import Reach, refuse

# As in the text browser: the sites themselves say what is wrong with a form, not the browser; and
# who goes back finds a page as the site sends it, not what was typed there before.
_PLAIN_FORMS = """document.addEventListener('DOMContentLoaded', () => {
    for (const form of document.forms) { form.noValidate = true; form.autocomplete = 'off'; }
})"""


class Reply(NamedTuple):
    """Answers requests in place of the network."""

    content_type: str
    body: bytes


Answering = Callable[[str], Reply | None]
"""Answers an address, with None for one that may not be opened."""


async def open_context(
    chromium: Chromium,
    *,
    viewport: tuple[int, int],
    har: Path | None,
    reach: Reach,
    answer: Answering | None = None,
) -> BrowserContext:
    """Open a context. Call it in the browser's thread.

    Args:
        chromium: the browser.
        viewport: width and height of its windows.
        har: a file for its network traffic, written when it is closed.
        reach: what its pages may ask for.
        answer: answers all requests, so that none leaves the browser; `reach` does not count then.
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
    await reach.limit(context)
    return context


async def add_headers(context: BrowserContext, headers: Mapping[str, Mapping[str, str]]) -> None:
    """Send further HTTP headers with each request to an origin, and to no other."""
    for origin, values in headers.items():
        await context.route(re.compile(f"^{re.escape(origin)}/"), _adding(values))


async def make_forms_plain(context: BrowserContext) -> None:
    """Have the pages of a context show forms as the text browser does."""
    await context.add_init_script(_PLAIN_FORMS)


def _answering(answer: Answering) -> Callable[[Route], Coroutine[Any, Any, None]]:
    async def answer_route(route: Route) -> None:
        reply = answer(route.request.url)
        if reply is None:
            await refuse(route)
        else:
            await route.fulfill(status=200, content_type=reply.content_type, body=reply.body)

    return answer_route


def _adding(values: Mapping[str, str]) -> Callable[[Route], Coroutine[Any, Any, None]]:
    async def pass_on(route: Route) -> None:
        await route.fallback(headers={**route.request.headers, **values})

    return pass_on
