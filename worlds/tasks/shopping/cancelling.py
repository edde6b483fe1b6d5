"""Tasks that cancel an order, or would if there were one."""

from __future__ import annotations

from agentgym_envs.webarena.sites.shopping.delivery import CANCEL_REASONS
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import NONE, changes, impossible, row
from worlds.tasks.shopping.draws import BOUGHT, orders_with, rows
from worlds.tasks.template import Case, Template, World


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
        open_ones = {"pending", "processing", "on hold"}
        if open_ones & {each["status"] for each in orders_with(world, product)}:
            return None
        settled = ("complete", "cancelled", "refunded", "shipped", "sent", "delivered")
        goal = impossible(("pending", "no order", "no such order", *settled), (*NONE, *settled))
        return Case({"product": product, "reason": dice.pick(CANCEL_REASONS)}, goal)
