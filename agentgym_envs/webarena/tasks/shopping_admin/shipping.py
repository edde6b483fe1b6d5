"""Solves tasks that record a shipment, or would if there were an order to ship."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    lines,
    open_line,
    open_section,
)
from agentgym_envs.webarena.tasks.solution import Case


def _find(screen: Screen, case: Case) -> Iterator[ExpertMove]:
    yield from open_section(screen, "Orders", "I look for the order.")
    yield from apply_filters(
        screen, {"Customer": case.values["customer"], "Status": case.values["status"]}
    )


def ship_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the order by customer and status, and fill in the form."""
    yield from _find(screen, case)
    yield open_line(screen, "Customer", case.values["customer"], "This is the order.")
    yield screen.click("link", "Ship", "It is not shipped yet.")
    yield screen.choose("Carrier", case.values["carrier"])
    yield screen.fill("textbox", "Tracking number", case.values["tracking"])
    yield screen.click("button", "Record shipment", "Carrier and number are right.")
    yield screen.stop("", "The shipment is recorded.")


def ship_sent_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look for the order; there is none of this status."""
    yield from _find(screen, case)
    if lines(screen, "Customer"):
        raise ElementNotFound("there is such an order after all")
    customer, status = case.values["customer"], case.values["status"]
    yield screen.give_up(f"{customer} has no {status} order.")
