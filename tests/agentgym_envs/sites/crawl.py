"""An address for every page of a site: the links of its pages, followed in process."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from urllib.parse import unquote, urljoin, urlsplit

from lxml import html
from starlette.routing import Match

from agentgym_envs.browsing.text.fetch import Answer, fetch
from agentgym_envs.sites.apps import open_site
from agentgym_envs.sites.names import DATABASES, ORIGINS
from agentgym_envs.sites.people import AGENT, AGENT_ID
from agentgym_envs.sites.state import SiteState, first_token

FETCHES = 400
"""Of one crawl; a site's kinds of pages are found within far fewer."""

STARTS = {
    "reddit": (f"/u/{AGENT.username}",),  # what one wrote oneself can be changed
    "map": ("/street/1",),  # linked by suggestions to a search alone
}


def page_routes(site: str) -> list[str]:
    """List the routes of a site that answer a GET."""
    return [route.path for route in open_site(site).routes if "GET" in (route.methods or ())]


def route_of(site: str, url: str) -> str:
    """Return the route that an address takes; empty where there is none."""
    scope = {"type": "http", "method": "GET", "path": unquote(urlsplit(url).path)}
    routes = open_site(site).routes
    return next((route.path for route in routes if route.matches(scope)[0] == Match.FULL), "")


def prepare_checkout(state: SiteState) -> None:
    """Fill the agent's cart and take the checkout to its last step: its pages need one."""

    def post(path: str, **fields: str) -> None:
        url, cookies = ORIGINS["shopping"] + path, {"session": first_token("shopping")}
        assert fetch(state, url, form=list(fields.items()), cookies=cookies).status == 303

    def value(query: str) -> str:
        return str(state.database("shopping").execute(query).fetchone()[0])

    slug = value("SELECT slug FROM products WHERE is_enabled AND stock > 9 ORDER BY id")
    address = value(f"SELECT id FROM addresses WHERE customer_id = {AGENT_ID}")
    post(f"/product/{slug}/cart", quantity="1")
    post("/checkout/address", address=address)
    post("/checkout/delivery", shipping="standard", payment="invoice")


class Crawler:
    """Follows links, those of routes that were seen least first.

    Args:
        site: which.
        is_signed_in: whether it is the agent who looks.
    """

    def __init__(self, site: str, *, is_signed_in: bool = True) -> None:
        signed_in = dict.fromkeys(DATABASES, AGENT_ID) if is_signed_in else {}
        self.site = site
        self.state = SiteState(signed_in=signed_in)
        self.cookies = {"session": first_token(site)} if is_signed_in and site in DATABASES else {}
        self._seen: dict[str, int] = {}
        if is_signed_in and site == "shopping":
            prepare_checkout(self.state)

    def pages(self) -> Iterator[tuple[str, str, Answer]]:
        """Yield route, address and answer of pages, until nothing new is linked."""
        origin = ORIGINS[self.site]
        waiting = [(0, 0, f"{origin}/")] + [
            (0, 1, origin + path)
            for path in (*page_routes(self.site), *STARTS.get(self.site, ()))
            if "{" not in path
        ]
        heapq.heapify(waiting)
        known = {url for _, _, url in waiting}
        while waiting and sum(self._seen.values()) < FETCHES:
            rank, order, url = heapq.heappop(waiting)
            route = route_of(self.site, url)
            seen = self._seen.get(route, 0)
            if rank < seen:
                heapq.heappush(waiting, (seen, order, url))
                continue
            self._seen[route] = seen + 1
            answer = fetch(self.state, url, cookies=self.cookies)
            location = answer.header("location")
            links = [location] if location else []
            if answer.status == 200 and answer.body.strip():
                yield route, url, answer
                links = [str(link) for link in html.fromstring(answer.body).xpath("//a/@href")]
            orders = [
                link.removeprefix("/account/orders/")
                for link in links
                if "/account/orders/" in link
            ]
            links += [f"/checkout/done/{number}" for number in orders]  # shown after the last step
            for link in links:
                link = urljoin(url, link).partition("#")[0]
                if link.startswith(f"{origin}/") and link not in known:
                    known.add(link)
                    rank = self._seen.get(route_of(self.site, link), 0)
                    heapq.heappush(waiting, (rank, len(known), link))


def a_page_of_each_route(site: str) -> dict[str, str]:
    """Return an address for every route of a site that shows a page, by route."""
    expected, pages = set(page_routes(site)), dict[str, str]()
    for is_signed_in in (True, False):
        crawler = Crawler(site, is_signed_in=is_signed_in)
        for route, url, _ in crawler.pages():
            pages.setdefault(route, url)
            if expected <= set(pages):
                break
        crawler.state.close()
        if expected <= set(pages):
            break
    return pages
