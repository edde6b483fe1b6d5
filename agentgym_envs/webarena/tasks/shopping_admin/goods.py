"""Solves tasks about products: other prices, and something new."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.shopping_admin.entries import read_amount, write_amount
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    lines,
    open_line,
    open_section,
    typed,
)
from agentgym_envs.webarena.tasks.solution import Case


def _change_prices_list(screen: Screen, case: Case) -> Iterator[ExpertMove]:
    yield from open_section(screen, "Products", "I need the list of these products.")
    filters = {"Brand": case.values["brand"], "Category": case.values["category"]}
    yield from apply_filters(screen, filters)


def change_prices(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open the products one after the other and compute each price."""
    yield from _change_prices_list(screen, case)
    skus = [line.cells["SKU"] for line in lines(screen, "SKU")]
    for sku in skus:
        if sku != skus[0]:
            yield from _change_prices_list(screen, case)
        yield open_line(screen, "SKU", sku, "The price of this one is not changed yet.")
        price = write_amount((read_amount(typed(screen, "Price")) or 0) + case.notes["change"])
        yield screen.fill("textbox", "Price", price, f"The new price is {price}.")
        yield screen.click("button", "Save product", "I save the product.")
    yield screen.stop("", "All of the products have their new price.")


def new_product(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Fill in the form of a new product."""
    values = case.values
    yield from open_section(screen, "Products", "Products are added in their section.")
    yield screen.click("link", "Add product", "I open the form for a new product.")
    yield screen.fill("textbox", "Product name", values["name"], "I begin with the name.")
    yield screen.fill("textbox", "SKU", values["sku"])
    yield screen.choose("Category", case.notes["option"])
    yield screen.fill("textbox", "Brand", values["brand"])
    yield screen.fill("textbox", "Price", case.notes["price"])
    yield screen.fill("textbox", "Stock", values["stock"])
    if screen.find("checkbox", "Enabled in the shop").properties.get("checked") != "true":
        yield screen.click("checkbox", "Enabled in the shop", "It shall be enabled.")
    yield screen.click("button", "Save product", "Everything is filled in, so I save.")
    yield screen.stop("", "The product has been added.")
