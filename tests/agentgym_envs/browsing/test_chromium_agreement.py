"""The accessibility trees of both browsers agree on every kind of page of the embedded sites."""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher
from urllib.parse import urlsplit

import pytest

from agentgym_envs.browsing import Browser
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from agentgym_envs.browsing.page import Page
from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.sites.names import SITES
from agentgym_envs.sites.state import SiteState
from tests.agentgym_envs.browsing.session import COOKIES, signed_in
from tests.agentgym_envs.sites.crawl import (
    a_page_of_each_route,
    page_routes,
    prepare_checkout,
)

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

AGREEMENT = 0.97
SHOWN_TO_STRANGERS = ("/login",)


def agreement(text: Page, chromium: Page) -> float:
    """Return the share of the longer page's lines whose role and name both pages have, in order."""
    lines = [[(node.role, node.name) for node in page.nodes] for page in (text, chromium)]
    blocks = SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(map(len, lines))


def look_at(browser: Browser, url: str) -> Page | None:
    """Open an address; None where it is a file and no page."""
    browser.act(WebAction("goto", text=url))
    page = browser.page()
    return page if urlsplit(page.url).path == urlsplit(url).path else None


@pytest.mark.timeout(900)
@pytest.mark.parametrize("site", SITES)
def test_roles_and_names_agree_on_every_kind_of_page(
    site: str, record_property: Callable[[str, object], None]
) -> None:
    urls = a_page_of_each_route(site)
    assert set(urls) == set(page_routes(site))
    agreed, wrong = 0, []
    for is_signed_in in (True, False):
        states = [signed_in() if is_signed_in else SiteState() for _ in range(2)]
        if site == "shopping" and is_signed_in:
            for state in states:
                prepare_checkout(state)
        text, chromium = TextBrowser(states[0]), ChromiumBrowser(states[1])
        try:
            for browser in (text, chromium):
                browser.open("about:blank", COOKIES if is_signed_in else {})
            for route, url in urls.items():
                if (route not in SHOWN_TO_STRANGERS) != is_signed_in:
                    continue
                pages = look_at(text, url), look_at(chromium, url)
                both = pages[0] is not None and pages[1] is not None
                share = agreement(*pages) if both else float(pages == (None, None))
                agreed += share >= AGREEMENT
                if share < AGREEMENT:
                    wrong.append((route, url, round(share, 3)))
        finally:
            text.close()
            chromium.close()
    message = f"{site}: {agreed} of {len(urls)} kinds of pages agree"
    record_property("agreement", message)
    print(message)  # seen with -s or -rP
    assert wrong == [], message
