"""Tasks that begin with a page in each of two tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.deployments import AND
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.shopping.draws import COST, rows
from worlds.tasks.shopping.steps import SITE, add_to_cart, cents_in
from worlds.tasks.template import Case, Template, World

CRITERIA = {
    "the cheaper one": ("price", min),
    "the more expensive one": ("price", max),
    "the one that is better in stock": ("stock", max),
    "the one of which fewer are in stock": ("stock", min),
    "the one with more reviews": ("reviews", max),
}
"""The number of a product's page that a criterion compares, and the better end."""


_COLUMNS = dict(zip(CRITERIA, ("cost", "-cost", "-stock", "stock", "-reviews"), strict=True))
"""SQL that is least for the right product, by criterion."""


def _number(screen: Screen, what: str) -> int:
    """Return a product's price in cents, its stock or how many reviews it has."""
    if what == "price":
        return cents_in(screen.starting("StaticText", "$").name)
    pattern = re.compile(
        r"In stock: (\d+)" if what == "stock" else r".*?(\d+) reviews?\b|No reviews"
    )
    for node in screen.all("StaticText"):
        if match := pattern.match(node.name):
            return int(match[1] or 0)
    raise ElementNotFound(f"no {what} on {screen.url}")


_BACK = 3


def _back_to_product(screen: Screen) -> Iterator[ExpertMove]:
    """Go back to the page that was open when the task began."""
    for _ in range(_BACK):
        if screen.has("button", "Add to cart"):
            return
        yield ExpertMove("go_back", "The product was open in this tab before.")


class BetterOfTwoTabs(Template):
    """Put the one of two products into the cart whose pages are open already."""

    number = 148
    sites = (SITE,)
    split = "train"
    intents = (
        "From my two tabs, put {quantity} of {which} into my cart.",
        "Of the two products in my tabs, put {quantity} of {which} into my cart.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two products of one category that differ in all that may be asked for."""
        products = rows(
            world,
            f"SELECT p.id, p.slug, p.category_id, p.stock, {COST} AS cost, (SELECT count(*) FROM "
            "reviews r WHERE r.product_id = p.id AND r.status = 'approved') AS reviews "
            "FROM products p WHERE p.is_enabled AND p.stock >= 12 ORDER BY p.id",
        )
        first = dice.pick(products)
        second = dice.pick(
            [each for each in products if each["category_id"] == first["category_id"]]
        )
        if any(first[column] == second[column] for column in ("cost", "stock", "reviews")):
            return None
        which, quantity = dice.pick(list(CRITERIA)), dice.between(2, 11)
        column = _COLUMNS[which]
        sign = -1 if column.startswith("-") else 1
        better = min((first, second), key=lambda each: sign * each[column.removeprefix("-")])
        return Case(
            {"quantity": str(quantity), "which": which},
            changes(row("cart_items", product_id=better["id"], quantity=quantity)),
            start=AND.join(f"__SHOPPING__/product/{each['slug']}" for each in (first, second)),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read both pages, and buy on the better one."""
        what, best = CRITERIA[case.values["which"]]
        numbers = []
        for tab in (0, 1):
            yield ExpertMove(f"tab_focus [{tab}]", f"I look at the {what} in tab {tab}.")
            yield from _back_to_product(screen)
            numbers.append(_number(screen, what))
        tab = numbers.index(best(numbers))
        if tab == 0:
            yield ExpertMove("tab_focus [0]", f"It is {numbers[0]} here and {numbers[1]} there.")
        yield from add_to_cart(screen, int(case.values["quantity"]))
        yield screen.stop()
