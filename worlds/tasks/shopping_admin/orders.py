"""Tasks about orders: holding, telling the customer, another address."""

from __future__ import annotations

from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.sites.shopping.customers import postcode_of, street
from worlds.tasks.shopping_admin.draws import same
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS

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

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw bounds that one to six orders meet."""
        status = dice.pick(("pending", "processing"))
        least = 1000 * dice.between(3, 29)
        day = f"2026-03-{dice.between(1, 12):02}"
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


_MESSAGES: tuple[str, ...] = WORDS["shopping_admin"]["messages"]


class TellCustomer(Template):
    """A comment on the newest order of a customer, sent by e-mail."""

    number = 43
    sites = (SITE,)
    intent = (
        'Add the comment "{text}" to the most recent order of {customer}, and have the customer '
        "notified of it by e-mail."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer with several orders, and a message."""
        customer = dice.pick(
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
        text = dice.pick(_MESSAGES)
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


class RedirectOrder(Template):
    """An order goes to another address than was given."""

    number = 44
    sites = (SITE,)
    intent = (
        "Order {number} must go to {street}, {postcode} {town} instead. Change its shipping "
        "address; name and phone stay the same."
    )
    split = "validation"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an open order and another town."""
        order = dice.pick(
            world.rows(
                SITE,
                "SELECT id, number, name, phone, town FROM orders "
                f"WHERE status IN {_OPEN} ORDER BY id",
            )
        )
        town = dice.pick(TOWNS)
        if town == order["town"]:
            return None
        values = {
            "number": order["number"],
            "street": street(dice),
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
