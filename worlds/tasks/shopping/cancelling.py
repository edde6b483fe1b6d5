"""Tasks that cancel an order, or would if there were one."""

from __future__ import annotations

from agentgym_envs.webarena.sites.shopping.delivery import CANCEL_REASONS
from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.tasks.shopping.draws import BOUGHT, orders_with, quoted, rows, unchanged
from worlds.tasks.template import Case, Template, World, changed, impossible, state_of


class CancelOrder(Template):
    """Cancel a pending order, with a reason."""

    number = 13
    sites = (SITE,)
    split = "train"
    intent = "Cancel my pending order that contains {product}. Give this reason: {reason}."

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product that only one pending order holds."""
        product = dice.pick(rows(world, BOUGHT))["name"]
        pending = [row for row in orders_with(world, product) if row["status"] == "pending"]
        if len(pending) != 1:
            return None
        order, reason = pending[0]["id"], dice.pick(CANCEL_REASONS)
        # A comment of the day: older ones may say the same.
        comment = (
            f"SELECT status FROM order_comments WHERE order_id = {order} "
            f"AND text = {quoted(reason)} AND created_at = {quoted(NOW)}"
        )
        return Case(
            {"product": product, "reason": reason},
            changed(
                state_of(SITE, f"SELECT status FROM orders WHERE id = {order}", [["cancelled"]]),
                state_of(SITE, comment, [["cancelled"]]),
                unchanged(
                    world,
                    f"SELECT status, count(*) FROM orders WHERE id != {order} GROUP BY status "
                    "ORDER BY status",
                ),
            ),
        )


class CancelSentOrder(Template):
    """Cancel a pending order with a product that no pending order holds."""

    number = 16
    sites = (SITE,)
    split = "train"
    is_impossible = True
    intent = CancelOrder.intent

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product all orders of which are settled."""
        product = dice.pick(rows(world, BOUGHT))["name"]
        open_ones = {"pending", "processing", "on hold"}
        if open_ones & {row["status"] for row in orders_with(world, product)}:
            return None
        return Case({"product": product, "reason": dice.pick(CANCEL_REASONS)}, impossible())
