"""Solves tasks about customers: who calls, what they bought, and who never did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    line_with,
    lines,
    open_customer,
    open_line,
    open_section,
)
from agentgym_envs.webarena.tasks.solution import Case


def calling_customer(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the number, open the customer, and the first of the orders if need be."""
    phone, what = case.values["phone"], case.values["what"]
    yield from open_section(screen, "Customers", "I look the phone number up.")
    yield from apply_filters(screen, {"Phone": phone})
    line = line_with(screen, "Phone", phone)
    yield screen.click_node(screen.below(line.node, "link")[0], "This is who is calling.")
    latest = first_of(lines(screen, "Number"))
    if what == "tracking number":
        link = screen.below(latest.node, "link")[0]
        yield screen.click_node(link, "The newest order comes first; it knows its shipment.")
        shipment = first_of(n for n in screen.all("row") if n.name.startswith("Shipment | "))
        yield screen.stop(shipment.name.split(", ")[1], "The shipment has this number.")
    else:
        answer = latest.cells["Total" if what == "total" else "Number"]
        yield screen.stop(answer, "The newest order comes first.")


def ordered_so_often(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look at one customer after the other until one has so many orders."""
    yield from open_section(screen, "Customers", "I begin with who signed up then.")
    yield from apply_filters(screen, case.notes["filters"])
    emails = [line.cells["E-mail"] for line in lines(screen, "E-mail")]
    for email in emails:
        yield open_line(screen, "E-mail", email, "How often has this one ordered?")
        if screen.has("row", f"Orders | {case.notes['orders']}"):
            yield screen.stop(email, f"This one has placed {case.values['orders']}.")
            return
        yield ExpertMove("go_back", "That is another number, so it is one of the others.")
    raise ElementNotFound(f"none of them has placed {case.values['orders']}")


def returned_goods(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open the customer's complete orders one after the other."""
    yield from open_customer(screen, case.values["customer"])
    numbers = [
        line.cells["Number"]
        for line in lines(screen, "Number")
        if line.cells["Status"] == "complete"
    ]
    yield from _look_through(case, screen, numbers)
    yield screen.click("button", "Refund", "The product is in this order; I refund it.")
    yield screen.stop("", "The order has been refunded.")


def never_bought(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open all of the customer's orders; the product is in none."""
    customer, product = case.values["customer"], case.values["product"]
    yield from open_customer(screen, customer)
    numbers = [line.cells["Number"] for line in lines(screen, "Number")]
    yield from _look_through(case, screen, numbers)
    if screen.has("link", product):
        raise ElementNotFound("the product was bought after all")
    yield screen.give_up(f"No order of {customer} holds the {product}.")


def _look_through(case: Case, screen: Screen, numbers: Sequence[str]) -> Iterator[ExpertMove]:
    """Open a customer's orders until the product is in one."""
    for number in numbers:
        yield screen.click("link", number, "Was the product bought with this order?")
        if screen.has("link", case.values["product"]):
            return
        yield screen.click("link", case.values["customer"], "It is not in it, so I go back.")
