"""Solves tasks with the account: addresses, personal data, reviews."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.shopping.steps import (
    cents_in,
    open_account,
    show_orders,
    table_rows,
)
from agentgym_envs.webarena.tasks.solution import Case

DEFAULT = {
    "Make it my default address.": True,
    "Keep my default address as it is.": False,
}


def add_address(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Fill in the form."""
    yield from open_account(screen, "Address book")
    yield screen.click("link", "Add an address", "A new address is wanted.")
    for label in ("Name", "Street", "Town", "Postcode", "Phone"):
        yield screen.fill("textbox", label, case.values[label.lower()])
    if DEFAULT[case.values["default"]]:
        yield screen.click("checkbox", "Use as default address", "It is to be the default.")
    yield screen.click("button", "Save address", "The form is complete.")
    yield screen.stop()


def moved_house(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Edit three lines."""
    yield from open_account(screen, "Address book")
    for node in screen.all("link"):
        if node.name.startswith("Edit ") and node.name.endswith(f", {case.values['town']}"):
            yield screen.click_node(node, "This is the address that has changed.")
            break
    yield screen.fill("textbox", "Street", case.values["street"])
    yield screen.fill("textbox", "Town", case.values["new_town"])
    yield screen.fill("textbox", "Postcode", case.values["postcode"])
    yield screen.click("button", "Save address", "Name and phone stay.")
    yield screen.stop()


def review_from_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the order, compare prices, write."""
    values = case.values
    yield from show_orders(screen)
    while not screen.has("link", values["order"]):
        yield screen.click("link", "Next", "The order is older than these.")
    yield screen.click("link", values["order"], "This is the order.")
    items = [(cents_in(cells[1]), cells[0]) for _, cells in table_rows(screen) if _is_item(cells)]
    yield screen.click("link", max(items)[1], "This is its most expensive product.")
    yield screen.click("link", "Write a review", "I write the review.")
    yield screen.click("radio", f"{values['stars']} stars", "I choose the rating.")
    yield screen.fill("textbox", "Title", values["title"])
    yield screen.fill("textbox", "Review", values["text"])
    yield screen.click("button", "Submit review", "Everything is filled in.")
    yield screen.stop()


def _is_item(cells: list[str]) -> bool:
    return len(cells) == 4 and cells[1].startswith("$")


def new_phone(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Two forms of the account."""
    yield from open_account(screen, "Personal data")
    yield screen.fill("textbox", "Phone", case.values["phone"])
    yield screen.click("button", "Save data", "The new number is filled in.")
    yield screen.click("link", "Newsletter", "Now the newsletter.")
    yield screen.click("checkbox", "I want to get the newsletter", "I subscribe.")
    yield screen.click("button", "Save choice", "I save this.")
    yield screen.stop()
