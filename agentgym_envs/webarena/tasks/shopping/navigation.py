"""Solves tasks that end on a page: the right one must be found and stand in the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import money
from agentgym_envs.webarena.tasks.screen import Screen, first_of, over_pages
from agentgym_envs.webarena.tasks.shopping.steps import cents_in, open_category, search, tiles
from agentgym_envs.webarena.tasks.solution import Case

ORDERS = {
    "the cheapest first": ("price", "Price: low to high"),
    "the most expensive first": ("price-down", "Price: high to low"),
    "ordered by name": ("name", "Name"),
    "the best rated first": ("stars", "Best rated"),
    "the most reviewed first": ("reviews", "Most reviewed"),
    "the newest first": ("newest", "Newest"),
}
"""How a goal words the order of a list: its name in addresses, and on the page."""


def second_page_of_list(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Set order and filters, then go on to the next page."""
    values = case.values
    yield from open_category(screen, values["category"])
    yield screen.choose("Sort by", ORDERS[values["order"]][1], "The list is to be in order.")
    yield screen.fill("textbox", "Highest price ($)", values["most"].removeprefix("$"))
    yield screen.choose("Brand", values["brand"], "Only this brand is wanted.")
    yield screen.click("checkbox", "Only in stock", "And only what is in stock.")
    yield screen.click("button", "Apply filters", "I apply order and filters.")
    yield screen.click("link", "Next", "This is the first page; the second one is wanted.")
    yield screen.stop("", "This is the second page of the list.")


def stars_of_most_reviewed(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter and sort the category, open the first product, filter its reviews."""
    values = case.values
    yield from open_category(screen, case.notes["above"], values["category"])
    yield screen.choose("Sort by", "Most reviewed", "Sorted so, the most reviewed comes first.")
    yield screen.choose("Brand", values["brand"], "Only this brand counts.")
    yield screen.click("button", "Apply filters", "I apply order and filter.")
    yield screen.click_node(first_of(tiles(screen)).link, "This product has the most reviews.")
    yield screen.choose("Rating", values["stars"], "Only reviews with this rating are wanted.")
    yield screen.click("button", "Filter reviews", "I filter the reviews.")
    yield screen.stop("", "These are the reviews asked for.")


def review_most_reduced(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Compare the cuts, page after page, then open the product and its form."""
    yield from open_category(screen, case.notes["above"], case.values["category"])
    for field, slot in (("Lowest price ($)", "least"), ("Highest price ($)", "most")):
        dollars = case.values[slot].removeprefix("$")
        yield screen.fill("textbox", field, dollars, "Only prices between the two count.")
    yield screen.click("button", "Apply filters", "I apply the filters.")
    cuts = yield from over_pages(
        screen, lambda: _cuts(screen), "A later page may hold a larger cut."
    )
    cut, name = max(cuts)
    if not screen.has("link", name):
        yield from search(screen, name, f"It is on a page before, with a cut of {money(cut)}.")
    yield screen.click("link", name, f"Its price has been cut the most, by {money(cut)}.")
    yield screen.click("link", "Write a review", "The form is behind this link.")
    yield screen.stop("", "The form is open; it is to stay empty.")


def _cuts(screen: Screen) -> list[tuple[int, str]]:
    """Return by how many cents each reduced product on the page has become cheaper."""
    cuts = []
    for item in screen.all("listitem"):
        for text in screen.below(item, "StaticText"):
            if price := re.fullmatch(r"(\$\S+) instead of (\$\S+)", text.name):
                name = first_of(screen.below(item, "link")).name
                cuts.append((cents_in(price[2]) - cents_in(price[1]), name))
    return cuts


def best_stocked_variant(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look at every variant, then return to the best one."""
    family = case.values["family"]
    yield from search(screen, family)
    first = first_of(_variants(screen, family))
    stock: dict[str, int] = {}
    yield screen.click_node(first, "Each variant's page tells how many there are.")
    others = [node.name for node in _variants(screen, family)]
    last = first.name
    stock[last] = _stock(screen)
    for last in others:
        yield screen.click("link", last, f"{max(stock.values())} at most so far; I go on.")
        stock[last] = _stock(screen)
    best = max(stock, key=lambda name: stock[name])
    if best != last:
        yield screen.click("link", best, f"There are {stock[best]} of it, the most of all.")
    yield screen.stop("", f"This variant is best in stock, with {stock[best]} pieces.")


def _variants(screen: Screen, family: str) -> list[Node]:
    """List the links to variants of a family."""
    return [
        link
        for link in screen.all("link")
        if link.name == family or link.name.startswith(f"{family},")
    ]


def _stock(screen: Screen) -> int:
    """Return how many pieces of a product the shop has, on its page."""
    if screen.has("StaticText", "Out of stock"):
        return 0
    return int(screen.starting("StaticText", "In stock: ").name.removeprefix("In stock: "))
