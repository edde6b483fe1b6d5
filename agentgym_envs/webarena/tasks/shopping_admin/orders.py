"""Solves tasks about orders: holding, telling the customer, another address."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    change_ticked,
    lines,
    open_customer,
    open_order,
    open_section,
)
from agentgym_envs.webarena.tasks.solution import Case


def hold_orders(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter, tick all, hold."""
    yield from open_section(screen, "Orders", "The grid can hold many orders at once.")
    yield from apply_filters(
        screen,
        {
            "Status": case.values["status"],
            "From (YYYY-MM-DD)": case.values["day"],
            "Total at least": case.notes["least"],
        },
    )
    yield from change_ticked(screen, "orders", "Put on hold")
    yield screen.stop("", "They are on hold.")


def tell_customer(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Go to the order by way of the customer's page."""
    yield from open_customer(screen, case.values["customer"])
    newest = first_of(
        node for node in screen.all("link") if node.name.isdecimal() and len(node.name) == 9
    )
    yield screen.click_node(newest, "The most recent order comes first.")
    yield screen.fill("textbox", "Comment", case.values["text"], "I write the comment.")
    yield screen.click("checkbox", "Notify the customer by e-mail", "The customer shall be told.")
    yield screen.click("button", "Add comment", "Now I add it.")
    yield screen.stop("", "The comment is there, and the customer knows.")


def redirect_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open the order and change three fields of the address."""
    yield from open_order(screen, case.values["number"])
    yield screen.click("link", "Edit shipping address", "The address can be edited here.")
    yield screen.fill("textbox", "Street", case.values["street"])
    yield screen.fill("textbox", "Town", case.values["town"])
    yield screen.fill("textbox", "Postcode", case.values["postcode"])
    yield screen.click("button", "Save address", "The rest stays, so I save.")
    yield screen.stop("", "The order has its new address.")


def redirect_unknown_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look for the order's number, which no order has."""
    number = case.values["number"]
    yield from open_section(screen, "Orders", "I have to find the order.")
    yield from apply_filters(screen, {"Order number": number})
    if lines(screen, "Number"):
        raise ElementNotFound("there is such an order after all")
    yield screen.give_up(f"There is no order {number}.")
