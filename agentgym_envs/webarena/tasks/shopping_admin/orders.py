"""Tasks about orders: holding, telling the customer, another address."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.sites.people import TOWNS
from agentgym_envs.webarena.sites.shopping.made_customers import postcode_of, street
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.shopping_admin.template_helpers import (
    SITE,
    apply_filters,
    change_ticked,
    open_customer,
    open_order,
    open_section,
    same,
)
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_OPEN = "('pending', 'processing')"


class HoldOrders(Template):
    """Large orders are held back until somebody has checked them."""

    number = 42
    sites = (SITE,)
    intent = (
        "We want to check large orders before they leave: put every {status} order with a total "
        "of at least {amount}, placed on or after {day}, on hold."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw bounds that one to six orders meet."""
        status = rng.choice(("pending", "processing"))
        least = 1000 * rng.randrange(3, 30)
        day = f"2026-03-{rng.randrange(1, 13):02}"
        rows = world.rows(
            SITE,
            "SELECT id FROM orders WHERE status = ? AND total >= ? AND created_at >= ? ORDER BY id",
            status,
            least,
            day,
        )
        if not 1 <= len(rows) <= 6:
            return None
        ids = ", ".join(str(row["id"]) for row in rows)
        return Case(
            {"status": status, "amount": money(least), "day": day},
            changed(
                state_of(
                    SITE,
                    f"SELECT count(*) FROM orders WHERE id IN ({ids}) AND status = 'on hold'",
                    [(len(rows),)],
                ),
                same(
                    world,
                    f"SELECT status, count(*) FROM orders WHERE id NOT IN ({ids}) "
                    "GROUP BY status ORDER BY status",
                ),
            ),
            {"least": str(least // 100)},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter, tick all, hold."""
        yield from open_section(screen, "Orders", "The grid can hold many orders at once.")
        yield from apply_filters(
            screen,
            {
                "Status": case.values["status"],
                "From (YYYY-MM-DD)": case.values["day"],
                "Total at least": case.notes["least"],
            },
        )
        yield from change_ticked(screen, "orders", "Put on hold")
        yield screen.stop("", "They are on hold.")


_MESSAGES = (
    "Your parcel leaves our warehouse tomorrow.",
    "We have found the missing part and send it today.",
    "Thank you for your patience, the delay is our fault.",
    "The carrier will call you before the delivery.",
    "We have packed a small present as a thank you.",
    "Your invoice is on its way by post.",
)


class TellCustomer(Template):
    """A comment on the newest order of a customer, sent by e-mail."""

    number = 43
    sites = (SITE,)
    intent = (
        'Add the comment "{text}" to the most recent order of {customer}, and have the customer '
        "notified of it by e-mail."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a customer with several orders, and a message."""
        customer = rng.choice(
            world.rows(
                SITE,
                "SELECT c.id, c.name FROM customers c JOIN orders o ON o.customer_id = c.id "
                "GROUP BY c.id HAVING count(*) > 1 ORDER BY c.id",
            )
        )
        order_id = world.value(
            SITE,
            "SELECT id FROM orders WHERE customer_id = ? ORDER BY created_at DESC LIMIT 1",
            customer["id"],
        )
        last = world.value(SITE, "SELECT max(id) FROM order_comments")
        text = rng.choice(_MESSAGES)
        return Case(
            {"text": text, "customer": customer["name"]},
            changed(
                state_of(
                    SITE,
                    "SELECT order_id, text, is_customer_notified FROM order_comments "
                    f"WHERE id > {last}",
                    [(order_id, text, 1)],
                ),
                same(world, "SELECT status, count(*) FROM orders GROUP BY status ORDER BY status"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go to the order by way of the customer's page."""
        yield from open_customer(screen, case.values["customer"])
        newest = next(
            node for node in screen.all("link") if node.name.isdecimal() and len(node.name) == 9
        )
        yield screen.click_node(newest, "The most recent order comes first.")
        yield screen.fill("textbox", "Comment", case.values["text"], "I write the comment.")
        yield screen.click(
            "checkbox", "Notify the customer by e-mail", "The customer shall be told."
        )
        yield screen.click("button", "Add comment", "Now I add it.")
        yield screen.stop("", "The comment is there, and the customer knows.")


class RedirectOrder(Template):
    """An order goes to another address than was given."""

    number = 44
    sites = (SITE,)
    intent = (
        "Order {number} must go to {street}, {postcode} {town} instead. Change its shipping "
        "address; name and phone stay the same."
    )
    split = "validation"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw an open order and another town."""
        order = rng.choice(
            world.rows(
                SITE,
                "SELECT id, number, name, phone, town FROM orders "
                f"WHERE status IN {_OPEN} ORDER BY id",
            )
        )
        town = rng.choice(TOWNS)
        if town == order["town"]:
            return None
        values = {
            "number": order["number"],
            "street": street(rng),
            "postcode": postcode_of(town),
            "town": town,
        }
        order_id = order["id"]
        return Case(
            values,
            changed(
                state_of(
                    SITE,
                    f"SELECT name, street, town, postcode, phone FROM orders WHERE id = {order_id}",
                    [(order["name"], values["street"], town, values["postcode"], order["phone"])],
                ),
                same(
                    world,
                    "SELECT count(*), sum(total), count(DISTINCT street || town || postcode) "
                    f"FROM orders WHERE id <> {order_id}",
                ),
                same(world, "SELECT status, count(*) FROM orders GROUP BY status ORDER BY status"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the order and change three fields of the address."""
        yield from open_order(screen, case.values["number"])
        yield screen.click("link", "Edit shipping address", "The address can be edited here.")
        yield screen.fill("textbox", "Street", case.values["street"])
        yield screen.fill("textbox", "Town", case.values["town"])
        yield screen.fill("textbox", "Postcode", case.values["postcode"])
        yield screen.click("button", "Save address", "The rest stays, so I save.")
        yield screen.stop("", "The order has its new address.")
