"""The accessibility trees of both browsers agree on the embedded sites' own pages."""

from __future__ import annotations

from difflib import SequenceMatcher
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from lxml import html
from starlette.routing import Match

from agentgym_envs.webarena.actions import WebAction
from agentgym_envs.webarena.browsers.text.fetch import fetch
from agentgym_envs.webarena.page import Page
from agentgym_envs.webarena.sites.apps import open_site
from agentgym_envs.webarena.sites.names import ORIGINS, SITES
from tests.agentgym_envs.webarena.browsers.chromium_pairs import COOKIES, open_pair, signed_in

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

KINDS = 12
ADDRESSES = 500
AGREEMENT = 0.97


def kind_of(site: str, url: str) -> str:
    """Return the route that an address takes: pages of one route are of one kind."""
    scope = {"type": "http", "method": "GET", "path": unquote(urlsplit(url).path)}
    routes = open_site(site)._routes
    return next((route.path for route in routes if route.matches(scope)[0] == Match.FULL), "")


def crawl(site: str) -> list[str]:
    """Find pages of different kinds, the nearest to the home page first."""
    state, found = signed_in(), {}
    waiting = [f"{ORIGINS[site]}/"]
    for number, url in enumerate(waiting):
        kind = kind_of(site, url)
        if len(found) == KINDS or number == ADDRESSES:
            break
        if kind in found:
            continue
        answer = fetch(state, url, cookies=COOKIES.get(site))
        if answer.status != 200:
            continue
        found[kind] = url
        links = (urljoin(url, link) for link in html.fromstring(answer.body).xpath("//a/@href"))
        inside = (link.partition("#")[0] for link in links if link.startswith(f"{ORIGINS[site]}/"))
        waiting += [link for link in dict.fromkeys(inside) if link not in waiting]
    state.close()
    return list(found.values())


def agreement(text: Page, chromium: Page) -> float:
    """Return the share of the longer page's lines whose role and name both pages have, in order."""
    lines = [[(node.role, node.name) for node in page.nodes] for page in (text, chromium)]
    blocks = SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(map(len, lines))


@pytest.mark.parametrize("site", SITES)
def test_roles_and_names_agree_on_every_kind_of_page(site: str) -> None:
    urls = crawl(site)
    assert len(urls) == (1 if site == "homepage" else KINDS)
    with open_pair(urls[0]) as (text, chromium):
        for url in urls:
            for browser in (text, chromium):
                browser.act(WebAction("goto", text=url))
            assert chromium.page().url == text.page().url
            assert agreement(text.page(), chromium.page()) >= AGREEMENT, url
