"""Moves that several of the shop's solutions make, and how they read its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from worlds.tasks.screen import ElementNotFound, Screen, enter

SITE = "shopping"
_MONEY = re.compile(r"\$([\d,]+)\.(\d\d)")
_RATING = re.compile(r"([\d.]+) of 5 stars, ([\d,]+) review")


def search(screen: Screen, text: str, thought: str = "") -> Iterator[ExpertMove]:
    """Search the shop."""
    yield from enter(screen, SITE)
    yield screen.fill(
        "searchbox", "Search the shop", text, thought or "I search the shop for it.", enter=True
    )


def open_product(screen: Screen, name: str) -> Iterator[ExpertMove]:
    """Open a product's page by its full name."""
    yield from search(screen, name)
    yield screen.click("link", name, "This is the product I was looking for.")


def open_category(screen: Screen, group: str, leaf: str = "") -> Iterator[ExpertMove]:
    """Open a category of the first level, or one below from its menu."""
    yield from enter(screen, SITE)
    if leaf:
        yield screen.hover("link", group, f"{leaf} is in the menu of {group}.")
        yield screen.click("link", leaf, f"I open the sub-category {leaf}.")
    else:
        yield screen.click("link", group, f"I open the category {group}.")


def open_account(screen: Screen, section: str) -> Iterator[ExpertMove]:
    """Open a part of the account."""
    yield from enter(screen, SITE)
    yield screen.click("link", "My account", "What I need is in my account.")
    yield screen.click("link", section, f"I open {section!r}.")


def show_orders(screen: Screen, *, status: str = "", product: str = "") -> Iterator[ExpertMove]:
    """Open the list of orders and filter it."""
    yield from open_account(screen, "My orders")
    if status:
        yield screen.choose("Status", status, "Only orders of this status count.")
    if product:
        yield screen.fill("textbox", "Product", product, "I look for orders with this product.")
    yield screen.click("button", "Show orders", "I apply the filters.")


def add_to_cart(screen: Screen, quantity: int) -> Iterator[ExpertMove]:
    """On a product's page, put some of it into the cart."""
    yield screen.fill("textbox", "Quantity", str(quantity), f"I want {quantity} of it.")
    yield screen.click("button", "Add to cart", "I put them into the cart.")


def open_cart(screen: Screen) -> ExpertMove:
    """Open the cart."""
    return screen.click_node(screen.starting("link", "Cart ("), "I open the cart.")


def empty_cart(screen: Screen) -> Iterator[ExpertMove]:
    """Empty the cart, which holds something if the task was begun before."""
    yield from enter(screen, SITE)
    if screen.has("link", "Cart (0)"):
        return
    yield open_cart(screen)
    while buttons := [b for b in screen.all("button") if b.name.startswith("Remove ")]:
        yield screen.click_node(buttons[-1], "The cart shall hold only what I put into it.")


def cents_in(text: str) -> int:
    """Return the first amount in a text, in cents.

    Raises:
        ElementNotFound: there is none.
    """
    match = _MONEY.search(text)
    if match is None:
        raise ElementNotFound(f"no amount in {text!r}")
    return int(match[1].replace(",", "")) * 100 + int(match[2])


@dataclass(frozen=True)
class Tile:
    """A product in a list.

    Attributes:
        link: to its page; its name is the product's.
        cents: its price.
        reviews: how many it has.
    """

    link: Node
    cents: int
    reviews: int


def tiles(screen: Screen) -> list[Tile]:
    """Read the list of products on the screen."""
    result = []
    for item in screen.all("listitem"):
        links = screen.below(item, "link")
        texts = [node.name for node in screen.below(item, "StaticText")]
        if links and texts and texts[0].startswith("$"):
            ratings = [match for text in texts if (match := _RATING.match(text))]
            reviews = int(ratings[0][2].replace(",", "")) if ratings else 0
            result.append(Tile(links[0], cents_in(texts[0]), reviews))
    return result


def table_rows(screen: Screen) -> list[tuple[Node, list[str]]]:
    """Read the tables on the screen: each row with its cells."""
    return [(row, row.name.split(" | ")) for row in screen.all("row")]


def cell(screen: Screen, title: str) -> str:
    """Return the second cell of the row that begins so.

    Raises:
        ElementNotFound: there is none.
    """
    for _, cells in table_rows(screen):
        if cells[0] == title and len(cells) > 1:
            return cells[1]
    raise ElementNotFound(f"no row {title!r} on {screen.url}")


def order_links(screen: Screen) -> list[tuple[Node, list[str]]]:
    """Read the table of orders: each order's link, with number, date, name, total and status."""
    result = []
    for row, cells in table_rows(screen):
        links = screen.below(row, "link")
        if links and len(cells) == 5:
            result.append((links[0], cells))
    return result
