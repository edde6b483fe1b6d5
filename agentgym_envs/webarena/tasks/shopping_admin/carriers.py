"""A task about a carrier that the shop does not work with."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.shopping_admin.order_rules import CARRIERS
from agentgym_envs.webarena.tasks.screen import Lost, Screen
from agentgym_envs.webarena.tasks.shopping_admin.ground import (
    SITE,
    apply_filters,
    open_line,
    open_section,
)
from agentgym_envs.webarena.tasks.template import IMPOSSIBLE, Case, Template, World, impossible

_STRANGERS = ("Greyhound Freight", "Northmail", "Skylark Air Cargo", "Blue Barge Lines", "Courvo")


class UnknownCarrier(Template):
    """An order shall be shipped with a carrier that the form does not offer."""

    number = 55
    sites = (SITE,)
    intent = (
        "Record that the {status} order of {customer} was shipped with {carrier} today; the "
        "tracking number is {tracking}."
    )
    split = "train"
    is_impossible = True

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a customer with one open order, and a carrier that there is not."""
        order = rng.choice(
            world.rows(
                SITE,
                "SELECT o.status, c.name FROM orders o JOIN customers c ON c.id = o.customer_id "
                "WHERE o.status IN ('pending', 'processing') "
                "GROUP BY c.id HAVING count(*) = 1 ORDER BY o.id",
            )
        )
        carrier = rng.choice(_STRANGERS)
        if carrier in CARRIERS:
            return None
        values = {
            "status": order["status"],
            "customer": order["name"],
            "carrier": carrier,
            "tracking": f"{rng.choice('VWXYZ')}{rng.randrange(10**8, 10**9)}",
        }
        return Case(values, impossible())

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the form and read which carriers there are."""
        yield from open_section(screen, "Orders", "I look for the order.")
        yield from apply_filters(
            screen, {"Customer": case.values["customer"], "Status": case.values["status"]}
        )
        yield open_line(screen, "Customer", case.values["customer"], "This is the order.")
        yield screen.click("link", "Ship", "The form tells which carriers there are.")
        options = screen.find("combobox", "Carrier").properties.get("options", "")
        if case.values["carrier"] in options:
            raise Lost(f"{case.values['carrier']} is offered after all")
        yield screen.stop(IMPOSSIBLE, f"{case.values['carrier']} is not offered: {options}.")
