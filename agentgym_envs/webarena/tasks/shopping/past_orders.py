"""Solves tasks about the agent's own orders."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import MONTHS, money
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping.steps import (
    cents_in,
    empty_cart,
    order_links,
    show_orders,
    table_rows,
)
from agentgym_envs.webarena.tasks.solution import Case


def _month_of(date: str) -> int:
    """Count the months of a date such as `"14 March 2026"` from the year 0."""
    _, month, year = date.split()
    return int(year) * 12 + MONTHS.index(month)


def spent_in_months(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Add up the complete orders, page after page."""
    first, last = (_month_of(f"1 {case.values[slot]}") for slot in ("first", "last"))
    yield from show_orders(screen, status="Complete")
    total = 0
    while True:
        months = [(_month_of(cells[1]), cents_in(cells[3])) for _, cells in order_links(screen)]
        total += sum(cents for month, cents in months if first <= month <= last)
        if months[-1][0] < first or not screen.has("link", "Next"):
            break
        yield screen.click("link", "Next", f"{money(total)} so far; I look at older orders.")
    yield screen.stop(money(total), "These were all orders of these months.")


def tracking_number(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the order by the product, then read."""
    yield from _open_latest(case, screen)
    text = screen.starting("StaticText", "Sent on ").name
    yield screen.stop(text.rsplit(" ", 1)[1], "The number stands under delivery.")


def track_unsent_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look at the order; no delivery is there."""
    yield from _open_latest(case, screen)
    if any(text.name.startswith("Sent on ") for text in screen.all("StaticText")):
        raise ElementNotFound("the order was sent after all")
    yield screen.give_up("The latest order with it was not sent, so it has no tracking number.")


def order_again(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the order and use its button."""
    yield from empty_cart(screen)
    yield from _open_latest(case, screen)
    yield screen.click("button", "Reorder", "This puts everything into the cart.")
    yield screen.stop()


def _open_latest(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from show_orders(screen, product=case.values["product"])
    link, _ = first_of(order_links(screen))
    yield screen.click_node(link, "The latest order comes first.")


def bought_in_years(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open each of the orders."""
    yield from show_orders(screen, status="Complete", product=case.values["product"])
    orders = [
        cells[0] for _, cells in order_links(screen) if cells[1].split()[-1] in case.values["years"]
    ]
    count = total = 0
    for number in orders:
        yield screen.click("link", number, "This order is of the time asked for.")
        quantity, cents = _line_of(screen, case.values["product"])
        count, total = count + quantity, total + cents
        if number != orders[-1]:
            yield ExpertMove("go_back", f"{count} so far; I go back to the list.")
    yield screen.stop(f"{count}, {money(total)}", "I have added up all orders.")


def _line_of(screen: Screen, product: str) -> tuple[int, int]:
    """Return how many pieces of a product an order holds, and what they cost in cents."""
    for _, cells in table_rows(screen):
        if cells[0] == product and len(cells) == 4:
            return int(cells[2]), cents_in(cells[3])
    raise ElementNotFound(f"the order does not hold {product!r}")
