"""Solves tasks that end on the form of one thing that has to be found out: an order, a product."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.shopping_admin.entries import read_amount
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    Line,
    apply_filters,
    lines,
    open_customer,
    open_section,
)
from agentgym_envs.webarena.tasks.solution import Case


def address_form(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort the filtered orders by total and open the form of the first one."""
    extreme = case.values["extreme"]
    sort = "Total: high to low" if extreme == "highest" else "Total: low to high"
    yield from open_section(screen, "Orders", "The orders can be filtered and sorted by total.")
    yield from apply_filters(screen, case.notes["filters"], sort=sort)
    link = first_of(screen.below(first_of(lines(screen, "Number")).node, "link"))
    yield screen.click_node(link, f"The order with the {extreme} total comes first.")
    yield screen.click("link", "Edit shipping address", "The form is behind this link.")
    yield screen.stop("", "This is the form; I only had to open it.")


MOST = {
    "with the highest price per piece": ("price", "Price"),
    "that was bought in the largest quantity": ("quantity", "Quantity"),
}
"""Which product of an order: the column of its table, and of the page."""


def bought_product(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Go from the customer to the order and from there to the product."""
    which, what = case.values["which"], case.values["what"]
    yield from open_customer(screen, case.values["customer"])
    orders = lines(screen, "Number")
    if which == "most expensive":
        order = max(orders, key=lambda line: read_amount(line.cells["Total"]) or 0)
        why = f"The highest total is {order.cells['Total']}."
    else:
        order = orders[-1 if which == "first" else 0]
        line = "last" if which == "first" else "first"
        why = f"The newest come first, so the {which} order is the {line} one here."
    yield screen.click_node(first_of(screen.below(order.node, "link")), why)
    items = [line for line in lines(screen, "SKU") if screen.below(line.node, "link")]
    heading = MOST[what][1]
    product = max(items, key=lambda line: _number_in(line, heading))
    yield screen.click_node(
        first_of(screen.below(product.node, "link")),
        f"{heading} {product.cells[heading]} is the highest of this order.",
    )
    yield screen.stop("", "This is the form of that product; I only had to open it.")


def product_of_no_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open the customer's page, which lists no orders."""
    customer = case.values["customer"]
    yield from open_customer(screen, customer)
    if not screen.has("row", "Orders | 0"):
        raise ElementNotFound(f"{customer} has ordered after all")
    yield screen.give_up(f"{customer} has placed no orders.")


def _number_in(line: Line, heading: str) -> int:
    """Return an amount in cents, or a number times a hundred."""
    return read_amount(line.cells[heading]) or 0
