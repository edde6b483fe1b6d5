"""Solves tasks that cancel an order, or would if there were one."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping.steps import order_links, show_orders
from agentgym_envs.webarena.tasks.solution import Case


def cancel_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the order among the pending ones."""
    yield from show_orders(screen, status="Pending", product=case.values["product"])
    link, _ = first_of(order_links(screen))
    yield screen.click_node(link, "There is only one such order.")
    yield screen.choose("Reason", case.values["reason"], "A reason has to be given.")
    yield screen.click("button", "Cancel order", "I cancel the order.")
    yield screen.stop()


def cancel_sent_order(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look for it among the pending orders; none holds it."""
    yield from show_orders(screen, status="Pending", product=case.values["product"])
    if order_links(screen):
        raise ElementNotFound("a pending order holds it after all")
    yield screen.give_up("No pending order contains it.")
