"""Tasks that cancel an order, or would if there were one."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.shopping.delivery import CANCEL_REASONS
from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping.template_helpers import (
    BOUGHT,
    SITE,
    order_links,
    orders_with,
    quoted,
    rows,
    show_orders,
    unchanged,
)
from agentgym_envs.webarena.tasks.template import (
    IMPOSSIBLE,
    Case,
    Template,
    World,
    changed,
    impossible,
    state_of,
)


class CancelOrder(Template):
    """Cancel a pending order, with a reason."""

    number = 13
    sites = (SITE,)
    split = "train"
    intent = "Cancel my pending order that contains {product}. Give this reason: {reason}."

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product that only one pending order holds."""
        product = rng.choice(rows(world, BOUGHT))["name"]
        pending = [row for row in orders_with(world, product) if row["status"] == "pending"]
        if len(pending) != 1:
            return None
        order, reason = pending[0]["id"], rng.choice(CANCEL_REASONS)
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
    intent = CancelOrder.intent

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product all orders of which are settled."""
        product = rng.choice(rows(world, BOUGHT))["name"]
        open_ones = {"pending", "processing", "on hold"}
        if open_ones & {row["status"] for row in orders_with(world, product)}:
            return None
        return Case({"product": product, "reason": rng.choice(CANCEL_REASONS)}, impossible())

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for it among the pending orders; none holds it."""
        yield from show_orders(screen, status="Pending", product=case.values["product"])
        if order_links(screen):
            raise ElementNotFound("a pending order holds it after all")
        yield screen.stop(IMPOSSIBLE, "No pending order contains it.")
