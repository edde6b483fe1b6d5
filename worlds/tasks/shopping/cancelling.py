"""Tasks that cancel an order, or would if there were one."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.shopping.delivery import CANCEL_REASONS
from worlds.dice import Dice
from worlds.tasks.goals import NONE, changes, impossible, page, row
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.shopping.draws import BOUGHT, order_page, orders_with, rows
from worlds.tasks.shopping.steps import SITE, order_links, show_orders
from worlds.tasks.template import Case, Template, World

_PENDING = "SELECT number FROM orders WHERE customer_id = ? AND status = 'pending'"


class CancelOrder(Template):
    """Cancel a pending order, with a reason."""

    number = 13
    sites = (SITE,)
    split = "train"
    intents = (
        "Cancel my pending order with {product}: {reason}.",
        "Cancel my pending order with {product}; give {reason} as the reason.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product that only one pending order holds."""
        product = dice.pick(rows(world, BOUGHT))["name"]
        pending = [each for each in orders_with(world, product) if each["status"] == "pending"]
        if len(pending) != 1:
            return None
        order, reason = pending[0]["id"], dice.pick(CANCEL_REASONS)
        goal = changes(
            row("orders", id=order, status="cancelled"),
            row("order_comments", order_id=order, status="cancelled", text=reason),
        )
        return Case({"product": product, "reason": reason}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the order among the pending ones."""
        yield from show_orders(screen, status="Pending", product=case.values["product"])
        link, _ = first_of(order_links(screen))
        yield screen.click_node(link, "There is only one such order.")
        yield screen.choose("Reason", case.values["reason"], "A reason has to be given.")
        yield screen.click("button", "Cancel order", "I cancel the order.")
        yield screen.stop()


class CancelSentOrder(Template):
    """Cancel a pending order with a product that no pending order holds."""

    number = 16
    sites = (SITE,)
    split = "train"
    is_impossible = True
    intents = CancelOrder.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product all orders of which are settled."""
        product = dice.pick(rows(world, BOUGHT))["name"]
        orders = orders_with(world, product)
        if {"pending", "processing", "on hold"} & {each["status"] for each in orders}:
            return None
        settled = ("complete", "cancelled", "refunded", "shipped", "sent", "delivered")
        pending = rows(world, _PENDING, AGENT_ID)
        goal = impossible(
            ("pending", product, *settled),
            (*NONE, *settled),
            about=[product],
            pages=(page(SITE, "/account/orders", product=product), *map(order_page, orders)),
            lists=map(order_page, pending),
        )
        return Case({"product": product, "reason": dice.pick(CANCEL_REASONS)}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for the product among the pending orders, none of which holds it."""
        yield from show_orders(screen, status="Pending", product=case.values["product"])
        if order_links(screen):
            raise ElementNotFound("a pending order holds it after all")
        yield screen.give_up("No pending order contains it.")
