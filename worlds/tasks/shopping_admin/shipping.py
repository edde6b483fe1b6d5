"""Tasks that record a shipment, or would if there were an order to ship."""

from __future__ import annotations

from agentgym_envs.webarena.sites.shopping.delivery import CARRIERS
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.shopping_admin.draws import same
from worlds.tasks.template import Case, Template, World, changed, impossible, state_of

_OPEN = "('pending', 'processing')"


def _draw_tracking(dice: Dice) -> str:
    return f"{dice.pick('ABCDEFGH')}{dice.pick('KLMNPRST')}{dice.between(10**7, 10**8 - 1)}"


class ShipOrder(Template):
    """The one open order of a customer is shipped."""

    number = 41
    sites = (SITE,)
    intent = (
        "The {status} order of {customer} has left the warehouse with {carrier}. Record the "
        "shipment; the tracking number is {tracking}."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer with exactly one order that is pending or processing."""
        order = dice.pick(
            world.rows(
                SITE,
                "SELECT o.id, o.status, c.name FROM orders o JOIN customers c "
                f"ON c.id = o.customer_id WHERE o.status IN {_OPEN} "
                "GROUP BY c.id HAVING count(*) = 1 ORDER BY o.id",
            )
        )
        carrier = dice.pick(CARRIERS)
        tracking = _draw_tracking(dice)
        order_id = order["id"]
        return Case(
            {
                "status": order["status"],
                "customer": order["name"],
                "carrier": carrier,
                "tracking": tracking,
            },
            changed(
                state_of(
                    SITE,
                    "SELECT carrier, tracking_number, status FROM shipments s "
                    f"JOIN orders o ON o.id = s.order_id WHERE o.id = {order_id}",
                    [(carrier, tracking, "complete")],
                ),
                same(world, f"SELECT count(*) FROM shipments WHERE order_id <> {order_id}"),
                same(
                    world,
                    f"SELECT status, count(*) FROM orders WHERE id <> {order_id} "
                    "GROUP BY status ORDER BY status",
                ),
            ),
        )


class ShipSentOrder(Template):
    """An order shall be shipped of a customer who has none to ship."""

    number = 55
    sites = (SITE,)
    intent = ShipOrder.intent
    split = "train"
    is_impossible = True

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer all of whose orders are settled."""
        customer = dice.pick(
            world.rows(
                SITE,
                "SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id "
                "GROUP BY c.id HAVING sum(o.status IN ('pending', 'processing', 'on hold')) = 0 "
                "ORDER BY c.id",
            )
        )
        values = {
            "status": dice.pick(("pending", "processing")),
            "customer": customer["name"],
            "carrier": dice.pick(CARRIERS),
            "tracking": _draw_tracking(dice),
        }
        return Case(values, impossible())
