"""Tasks that record a shipment, or would if there were an order to ship."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.shopping.delivery import CARRIERS
from worlds.dice import Dice
from worlds.tasks.goals import NONE, changes, impossible, page, row
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.shopping_admin.draws import pages_of
from worlds.tasks.shopping_admin.steps import (
    SITE,
    apply_filters,
    lines,
    open_line,
    open_section,
)
from worlds.tasks.template import Case, Template, World

_OPEN = "('pending', 'processing')"


def _draw_tracking(dice: Dice) -> str:
    return f"{dice.pick('ABCDEFGH')}{dice.pick('KLMNPRST')}{dice.between(10**7, 10**8 - 1)}"


def _find(screen: Screen, case: Case) -> Iterator[ExpertMove]:
    yield from open_section(screen, "Orders", "I look for the order.")
    yield from apply_filters(
        screen, {"Customer": case.values["customer"], "Status": case.values["status"]}
    )


class ShipOrder(Template):
    """The one open order of a customer is shipped."""

    number = 41
    sites = (SITE,)
    split = "train"
    intents = (
        "Ship {customer}'s {status} order: {carrier}, tracking number {tracking}.",
        "Record that {customer}'s {status} order was shipped: {carrier}, tracking number "
        "{tracking}.",
    )

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
        values = {
            "status": order["status"],
            "customer": order["name"],
            "carrier": carrier,
            "tracking": tracking,
        }
        goal = changes(
            row("shipments", order_id=order["id"], carrier=carrier, tracking_number=tracking),
            row("orders", id=order["id"], status="complete"),
            row("order_comments", order_id=order["id"], status="complete"),
        )
        return Case(values, goal)

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
    split = "train"
    is_impossible = True
    intents = ShipOrder.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer all of whose orders are settled."""
        customer = dice.pick(
            world.rows(
                SITE,
                "SELECT c.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id "
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
        goal = impossible(
            ("order",),
            (values["status"], "open ", "unshipped", "to ship", "complete", "shipped", "cancelled"),
            (*NONE, "already", "every ", "all ", "only "),
            about=[customer["name"]],
            pages=pages_of(world, customer["id"], customer["name"]),
            lists=[page(SITE, "/orders", status=values["status"])],
        )
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for an order of this status, where there is none."""
        yield from _find(screen, case)
        if lines(screen, "Customer"):
            raise ElementNotFound("there is such an order after all")
        customer, status = case.values["customer"], case.values["status"]
        yield screen.give_up(f"{customer} has no {status} order.")
