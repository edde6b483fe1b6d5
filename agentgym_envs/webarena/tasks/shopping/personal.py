"""Solves tasks with the account: addresses, personal data, reviews."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
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
    edit = first_of(_edit_links(screen, case.values))
    yield screen.click_node(edit, "This is the address that has changed.")
    yield screen.fill("textbox", "Street", case.values["street"])
    yield screen.fill("textbox", "Town", case.values["new_town"])
    yield screen.fill("textbox", "Postcode", case.values["postcode"])
    yield screen.click("button", "Save address", "Name and phone stay.")
    yield screen.stop()


def moved_from_elsewhere(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the address book; the address is not there."""
    yield from open_account(screen, "Address book")
    if _edit_links(screen, case.values):
        raise ElementNotFound("the address book has the address after all")
    person, town = case.values["person"], case.values["town"]
    yield screen.give_up(f"There is no address of {person} in {town} in the address book.")


def _edit_links(screen: Screen, values: Mapping[str, str]) -> list[Node]:
    """List the links to the addresses of a person in a town."""
    return [
        link
        for item in screen.all("listitem")
        for link in screen.below(item, "link")
        if link.name.startswith("Edit ")
        and link.name.endswith(f", {values['town']}")
        and any(values["person"] in text.name for text in screen.below(item, "StaticText"))
    ]


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
