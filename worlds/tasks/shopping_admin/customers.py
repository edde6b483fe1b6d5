"""Tasks about customers: who calls, what they bought, and who never did."""

from __future__ import annotations

from datetime import date, timedelta

from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.shopping_admin.draws import same
from worlds.tasks.template import Case, Template, World, changed, exact_answer, state_of


class CallingCustomer(Template):
    """What the latest order is of whoever has a telephone number."""

    number = 34
    sites = (SITE,)
    intent = (
        "The customer with the phone number {phone} is on the line and asks about their most "
        "recent order. What is the {what} of that order? Answer with it alone."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer whose number is nobody else's."""
        customer = dice.pick(world.rows(SITE, "SELECT id, phone FROM customers ORDER BY id"))
        shared = "SELECT count(*) FROM customers WHERE instr(phone, ?) > 0"
        orders = world.rows(
            SITE,
            "SELECT id, number, total FROM orders WHERE customer_id = ? "
            "ORDER BY created_at DESC LIMIT 2",
            customer["id"],
        )
        if len(orders) < 2 or world.value(SITE, shared, customer["phone"]) > 1:
            return None
        what = dice.pick(("order number", "total", "tracking number"))
        order = orders[0]
        answers = {
            "order number": order["number"],
            "total": money(order["total"]),
            "tracking number": world.value(
                SITE, "SELECT tracking_number FROM shipments WHERE order_id = ?", order["id"]
            ),
        }
        if not answers[what]:
            return None
        return Case({"phone": customer["phone"], "what": what}, exact_answer(answers[what]))


class NeverOrdered(Template):
    """The one customer who signed up and never came back."""

    number = 54
    sites = (SITE,)
    intent = (
        "One of the customers of the group {group} who signed up from {first} to {last}, both days "
        "included, has never placed an order. Answer with this customer's e-mail address."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a span of days with three to eight customers, one of them without orders."""
        group = dice.pick(("General", "General", "Wholesale", "Retailer"))
        first = date(2023, 1, 2) + timedelta(days=dice.below(400))
        last = first + timedelta(days=dice.between(5, 99))
        rows = world.rows(
            SITE,
            "SELECT c.email, count(o.id) AS orders FROM customers c "
            "LEFT JOIN orders o ON o.customer_id = c.id WHERE c.group_name = ? "
            "AND c.created_at BETWEEN ? AND ? GROUP BY c.id",
            group,
            str(first),
            f"{last} 23:59:59",
        )
        without = [row["email"] for row in rows if not row["orders"]]
        if len(without) != 1 or not 3 <= len(rows) <= 8:
            return None
        filters = {
            "Group": group,
            "Since (YYYY-MM-DD)": str(first),
            "Until (YYYY-MM-DD)": str(last),
        }
        return Case(
            {"group": group, "first": str(first), "last": str(last)},
            exact_answer(without[0]),
            {"filters": filters},
        )


class ReturnedGoods(Template):
    """The order is refunded in which a customer bought a product."""

    number = 52
    sites = (SITE,)
    intent = (
        'The customer {customer} has sent back the "{product}". Refund the order that it was '
        "bought with."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order of somebody who has a few, with a product that is in no other."""
        order = dice.pick(
            world.rows(
                SITE,
                "SELECT o.id, o.number, o.customer_id, c.name FROM orders o "
                "JOIN customers c ON c.id = o.customer_id WHERE o.status = 'complete' "
                "AND (SELECT count(*) FROM orders WHERE customer_id = c.id) BETWEEN 2 AND 5 "
                "ORDER BY o.id",
            )
        )
        items = world.rows(SITE, "SELECT name FROM order_items WHERE order_id = ?", order["id"])
        product = dice.pick(items)["name"]
        bought = world.value(
            SITE,
            "SELECT count(*) FROM order_items i JOIN orders o ON o.id = i.order_id "
            "WHERE o.customer_id = ? AND i.name = ?",
            order["customer_id"],
            product,
        )
        if bought != 1:
            return None
        return Case(
            {"customer": order["name"], "product": product},
            changed(
                state_of(
                    SITE,
                    f"SELECT status FROM orders WHERE id = {order['id']}",
                    [("refunded",)],
                ),
                same(
                    world,
                    "SELECT status, count(*), sum(total) FROM orders "
                    f"WHERE id <> {order['id']} GROUP BY status ORDER BY status",
                ),
            ),
        )
