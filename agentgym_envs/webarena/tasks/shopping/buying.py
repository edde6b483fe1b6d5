"""Solves tasks with the cart and the checkout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping.steps import (
    add_to_cart,
    cell,
    cents_in,
    empty_cart,
    open_cart,
    open_category,
    open_product,
    tiles,
)
from agentgym_envs.webarena.tasks.solution import Case


def buy_most_reviewed(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort, add, check out."""
    values = case.values
    yield from empty_cart(screen)
    yield from open_category(screen, case.notes["above"], values["category"])
    yield screen.choose("Sort by", "Most reviewed", "Sorted so, the most reviewed comes first.")
    yield screen.click("button", "Apply filters", "I apply the order.")
    yield screen.click_node(first_of(tiles(screen)).link, "This product has the most reviews.")
    yield from add_to_cart(screen, int(values["quantity"]))
    yield open_cart(screen)
    yield screen.click("link", "Go to checkout", "The cart is right; I check out.")
    yield _choose(screen, values["town"], "It goes to this town.", at_end=True)
    yield screen.click("button", "Continue", "The address is chosen.")
    yield _choose(screen, values["method"], "This is the shipping method asked for.")
    yield _choose(screen, values["payment"], "This is the payment method asked for.")
    yield screen.click("button", "Continue", "I go on to the review.")
    yield screen.click("button", "Place order", "Everything is as it should be.")
    yield screen.stop()


def _choose(screen: Screen, text: str, thought: str, *, at_end: bool = False) -> ExpertMove:
    """Choose the radio button whose name begins, or ends, with a text."""
    for node in screen.all("radio"):
        if node.name.endswith(text) if at_end else node.name.startswith(text):
            return screen.click_node(node, thought)
    raise ElementNotFound(f"no radio button {text!r} on {screen.url}")


def spend_budget(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the price, divide, add."""
    yield from empty_cart(screen)
    yield from open_product(screen, case.values["product"])
    cost = cents_in(screen.starting("StaticText", "$").name)
    budget = int(re.sub(r"\D", "", case.values["budget"])) * 100
    yield from add_to_cart(screen, budget // cost)
    yield screen.stop()


def offer_total(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look the code up, fill the cart, apply the code."""
    yield from empty_cart(screen)
    yield screen.click("link", "Current offers", "The codes are told among the offers.")
    text = screen.starting("StaticText", f"{case.values['offer']}: ").name
    match = re.search(r"with the code (\w+)", text)
    if match is None:
        raise ElementNotFound(f"no code in {text!r}")
    yield from open_product(screen, case.values["product"])
    yield from add_to_cart(screen, int(case.values["quantity"]))
    yield open_cart(screen)
    yield screen.fill("textbox", "Coupon code", match[1], "This is the code of the offer.")
    yield screen.click("button", "Apply coupon", "I apply the code.")
    yield screen.stop(cell(screen, "Total"), "The summary tells the total.")
