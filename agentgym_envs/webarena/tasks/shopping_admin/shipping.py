"""Tasks that record a shipment, or would if there were an order to ship."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.shopping_admin.order_rules import CARRIERS
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.shopping_admin.template_helpers import (
    SITE,
    apply_filters,
    lines,
    open_line,
    open_section,
    same,
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

_OPEN = "('pending', 'processing')"


def _draw_tracking(rng: random.Random) -> str:
    return f"{rng.choice('ABCDEFGH')}{rng.choice('KLMNPRST')}{rng.randrange(10**7, 10**8)}"


def _find(screen: Screen, case: Case) -> Iterator[ExpertMove]:
    yield from open_section(screen, "Orders", "I look for the order.")
    yield from apply_filters(
        screen, {"Customer": case.values["customer"], "Status": case.values["status"]}
    )


class ShipOrder(Template):
    """The one open order of a customer is shipped."""

    number = 41
    sites = (SITE,)
    intent = (
        "The {status} order of {customer} has left the warehouse with {carrier}. Record the "
        "shipment; the tracking number is {tracking}."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a customer with exactly one order that is pending or processing."""
        order = rng.choice(
            world.rows(
                SITE,
                "SELECT o.id, o.status, c.name FROM orders o JOIN customers c "
                f"ON c.id = o.customer_id WHERE o.status IN {_OPEN} "
                "GROUP BY c.id HAVING count(*) = 1 ORDER BY o.id",
            )
        )
        carrier = rng.choice(CARRIERS)
        tracking = _draw_tracking(rng)
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the order by customer and status, and fill in the form."""
        yield from _find(screen, case)
        yield open_line(screen, "Customer", case.values["customer"], "This is the order.")
        yield screen.click("link", "Ship", "It is not shipped yet.")
        yield screen.choose("Carrier", case.values["carrier"])
        yield screen.fill("textbox", "Tracking number", case.values["tracking"])
        yield screen.click("button", "Record shipment", "Carrier and number are right.")
        yield screen.stop("", "The shipment is recorded.")


class ShipSentOrder(Template):
    """An order shall be shipped of a customer who has none to ship."""

    number = 55
    sites = (SITE,)
    intent = ShipOrder.intent
    split = "train"
    is_impossible = True

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a customer all of whose orders are settled."""
        customer = rng.choice(
            world.rows(
                SITE,
                "SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id "
                "GROUP BY c.id HAVING sum(o.status IN ('pending', 'processing', 'on hold')) = 0 "
                "ORDER BY c.id",
            )
        )
        values = {
            "status": rng.choice(("pending", "processing")),
            "customer": customer["name"],
            "carrier": rng.choice(CARRIERS),
            "tracking": _draw_tracking(rng),
        }
        return Case(values, impossible())

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for the order; there is none of this status."""
        yield from _find(screen, case)
        if lines(screen, "Customer"):
            raise ElementNotFound("there is such an order after all")
        customer, status = case.values["customer"], case.values["status"]
        yield screen.stop(IMPOSSIBLE, f"{customer} has no {status} order.")
