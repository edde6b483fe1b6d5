"""Opens a browser context for an episode, and limits what it may reach."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import BrowserContext, Route

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
    only: Sequence[str] | None,
    answer: Answering | None = None,
) -> BrowserContext:
    """Open a context; to be called in the browser's thread.

    Args:
        chromium: the browser.
        viewport: width and height of its windows.
        har: a file for its network traffic, written when it is closed.
        only: the origins of the embedded sites, which alone may be asked for anything: no other
            episode's, and nothing else that listens on this machine. None allows everything.
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
    elif only is not None:
        allowed = "|".join(map(re.escape, only))
        await context.route(re.compile(f"^(?!(?:{allowed})/)"), _refuse)
        await context.add_init_script(_PLAIN_FORMS)
    return context


def _answering(answer: Answering) -> Callable[[Route], Coroutine[Any, Any, None]]:
    async def answer_route(route: Route) -> None:
        reply = answer(route.request.url)
        if reply is None:
            await _refuse(route)
        else:
            await route.fulfill(status=200, content_type=reply.content_type, body=reply.body)

    return answer_route


async def _refuse(route: Route) -> None:
    await route.fulfill(status=502, content_type="text/html", body=outside_page(route.request.url))
