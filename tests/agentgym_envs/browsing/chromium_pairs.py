"""The same page in both browsers, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from agentgym_envs.browsing import Browser
from agentgym_envs.browsing.actions import parse_action
from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from agentgym_envs.browsing.chromium.server import SiteServer
from agentgym_envs.browsing.page import Page
from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.browsing.text.fetch import fetch
from agentgym_envs.errors import InvalidAction
from agentgym_envs.sites.state import SiteState
from tests.agentgym_envs.browsing import gallery
from tests.agentgym_envs.browsing.session import COOKIES, signed_in


@contextmanager
def open_pair(url: str) -> Iterator[tuple[TextBrowser, ChromiumBrowser]]:
    """Open an address of the embedded sites in both browsers, each with its own databases."""
    text, chromium = TextBrowser(signed_in()), ChromiumBrowser(signed_in())
    try:
        text.open(url, COOKIES)
        chromium.open(url, COOKIES)
        yield text, chromium
    finally:
        text.close()
        chromium.close()


@contextmanager
def open_gallery(path: str = "/") -> Iterator[tuple[TextBrowser, ChromiumBrowser]]:
    """Open a page of the gallery in both browsers, each with a gallery of its own."""
    site, other = gallery.build(), gallery.build()
    server = SiteServer(sites=lambda name: other)
    text = TextBrowser(SiteState(), partial(fetch, sites=lambda name: site))
    chromium = ChromiumBrowser(SiteState(), server=server)
    try:
        text.open(gallery.HOME.removesuffix("/") + path, {})
        chromium.open(gallery.HOME.removesuffix("/") + path, {})
        yield text, chromium
    finally:
        chromium.close()
        server.close()


def play(browser: Browser, action: str) -> str:
    """Carry out an action, its element written `role:name`; return how it was refused, or ""."""
    verb, _, rest = action.partition(" [")
    if ":" in rest and verb in ("click", "hover", "select", "type"):
        target, _, others = rest.partition("]")
        role, _, name = target.partition(":")
        element = next(n.element for n in browser.page().nodes if (n.role, n.name) == (role, name))
        action = f"{verb} [{element}]{others}"
    try:
        browser.act(parse_action(action))
    except InvalidAction as error:
        return str(error)
    return ""


def shown(page: Page) -> list[str]:
    """Return everything that a page shows."""
    return [page.url, page.title, *page.tabs, str(page.current_tab), *page.lines()]
