"""Solves tasks that add to the map: corrections and reviews."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case


def correct_place(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Fill in the form on the place's page."""
    yield from steps.open_place(screen, case.values["place"], case.values["town"])
    yield screen.click("link", "Suggest an edit")
    yield screen.choose("What is wrong", case.values["field"])
    yield screen.fill("textbox", "Correct value", case.values["value"])
    yield screen.click("button", "Send suggestion")
    yield screen.stop("", "The suggestion is sent.")


def review_place(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Search the address, open the place and fill in the form."""
    address = f"{case.values['address']}, {case.values['town']}"
    yield from steps.search(screen, address, "I only know the address, so I search for it.")
    kind = case.values["kind"].capitalize()
    here = f" {case.values['address']}, "
    link = first_of(link for link, text in steps.results(screen) if here in text)
    yield screen.click_node(link, f"{link.name} is the {kind.lower()} at this address.")
    yield screen.click("link", "Write a review")
    yield screen.choose("Rating", case.values["stars"])
    yield screen.fill("textbox", "Review (optional)", case.values["text"])
    yield screen.click("button", "Post review")
    yield screen.stop("", "The review is posted.")


def nothing_at_address(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Search the address, then look at its street; the number is missing there."""
    address, town = case.values["address"], case.values["town"]
    yield from steps.search(screen, f"{address}, {town}", "I look for what is at this address.")
    street = address.partition(" ")[2]
    yield from steps.search(screen, f"{street}, {town}", "Nothing is there; I look at the street.")
    yield screen.click("link", f"{street}, {town}", "This page lists all places of the street.")
    if any(link.name == address for link in screen.all("link")):
        raise ElementNotFound(f"there is something at {address} after all")
    yield screen.give_up(f"There is no {case.values['kind']} at {address} in {town}.")
