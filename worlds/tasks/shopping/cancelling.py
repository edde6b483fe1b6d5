"""Tasks that cancel an order, or would if there were one."""

from __future__ import annotations

from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.shopping.delivery import CANCEL_REASONS
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import NONE, changes, impossible, page, row
from worlds.tasks.shopping.draws import BOUGHT, order_page, orders_with, rows
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
