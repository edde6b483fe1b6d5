"""Solves tasks about stock: deliveries, an inventory, and what is nearly gone."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    change_ticked,
    open_product,
    open_section,
    typed,
)
from agentgym_envs.webarena.tasks.solution import Case


def counted_stock(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter, tick all, set the stock."""
    values = case.values
    yield from open_section(screen, "Products", "The grid can set the stock of many at once.")
    yield from apply_filters(screen, {"Brand": values["brand"], "Category": values["category"]})
    yield screen.fill("textbox", "New stock", values["number"], "This is what was counted.")
    yield from change_ticked(screen, "products", "Set stock")
    yield screen.stop("", "They all have the stock that was counted.")


def receive_goods(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the stock in the product's form and add."""
    yield from open_product(screen, case.values["sku"])
    now = int(typed(screen, "Stock"))
    total = now + int(case.values["pieces"])
    yield screen.fill(
        "textbox", "Stock", str(total), f"{now} and {case.values['pieces']} are {total}."
    )
    yield screen.click("button", "Save product", "I save the new stock.")
    yield screen.stop("", "The delivery is in the stock.")


def disable_scarce(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter, tick all, disable."""
    yield from open_section(screen, "Products", "Many products can be disabled in the grid.")
    yield from apply_filters(
        screen,
        {
            "Category": case.values["category"],
            "Status": "enabled",
            "Stock below": case.values["number"],
        },
    )
    yield from change_ticked(screen, "products", "Disable")
    yield screen.stop("", "They are all disabled.")
