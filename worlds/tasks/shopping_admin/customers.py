"""Tasks about customers: who calls, their purchases, and how often they ordered."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.goals import NONE, amount, answers, changes, identifier, impossible, name, row
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.shopping_admin.draws import pages_of
from worlds.tasks.shopping_admin.steps import (
    SITE,
    apply_filters,
    line_with,
    lines,
    open_customer,
    open_line,
    open_section,
)
from worlds.tasks.template import Case, Template, World


class CallingCustomer(Template):
    """A property of the latest order of the customer with a telephone number."""

    number = 34
    sites = (SITE,)
    split = "train"
    intents = (
        "Phone {phone}: what is the {what} of that customer's latest order?",
        "The customer with the phone number {phone} is calling: what is the {what} of their "
        "latest order?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer with a unique telephone number."""
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
        tracking = world.value(
            SITE, "SELECT tracking_number FROM shipments WHERE order_id = ?", orders[0]["id"]
        )
        what = dice.pick(("order number", "total", "tracking number"))
        if what == "tracking number" and not tracking:
            return None
        answer = {
            "order number": identifier(orders[0]["number"]),
            "total": amount(orders[0]["total"]),
            "tracking number": identifier(tracking or ""),
        }
        return Case({"phone": customer["phone"], "what": what}, answers(answer[what]))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the number, open the customer, and the first of the orders if need be."""
        phone, what = case.values["phone"], case.values["what"]
        yield from open_section(screen, "Customers", "I look the phone number up.")
        yield from apply_filters(screen, {"Phone": phone})
        line = line_with(screen, "Phone", phone)
        yield screen.click_node(screen.below(line.node, "link")[0], "This is who is calling.")
        latest = first_of(lines(screen, "Number"))
        if what == "tracking number":
            link = screen.below(latest.node, "link")[0]
            yield screen.click_node(link, "The newest order comes first; it knows its shipment.")
            shipment = first_of(n for n in screen.all("row") if n.name.startswith("Shipment | "))
            yield screen.stop(shipment.name.split(", ")[1], "The shipment has this number.")
        else:
            answer = latest.cells["Total" if what == "total" else "Number"]
            yield screen.stop(answer, "The newest order comes first.")


_ORDERS = {
    0: "no order",
    1: "exactly one order",
    2: "exactly two orders",
    3: "exactly three orders",
    4: "exactly four orders",
    5: "exactly five orders",
}


class OrderedSoOften(Template):
    """The one customer who signed up in some weeks and placed a number of orders."""

    number = 54
    sites = (SITE,)
    split = "train"
    intents = (
        "Which {group} customer signed up from {first} through {last} and placed {orders}? Give "
        "the e-mail address.",
        "Give the e-mail address of the {group} customer who signed up from {first} through "
        "{last} and has placed {orders}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw days on which three to eight customers signed up, and a unique number of orders."""
        number, orders = dice.pick(tuple(_ORDERS.items()))
        group = dice.pick(("General", "General", "Wholesale", "Retailer"))
        first = date(2023, 1, 2) + timedelta(days=dice.below(400))
        # Most customers are in the general group.
        days = dice.between(3, 12) if group == "General" else dice.between(20, 99)
        last = first + timedelta(days=days)
        rows = world.rows(
            SITE,
            "SELECT c.email, count(o.id) AS orders FROM customers c "
            "LEFT JOIN orders o ON o.customer_id = c.id WHERE c.group_name = ? "
            "AND c.created_at BETWEEN ? AND ? GROUP BY c.id",
            group,
            str(first),
            f"{last} 23:59:59",
        )
        emails = [each["email"] for each in rows if each["orders"] == number]
        if len(emails) != 1 or not 3 <= len(rows) <= 8:
            return None
        filters = {
            "Group": group,
            "Since (YYYY-MM-DD)": str(first),
            "Until (YYYY-MM-DD)": str(last),
        }
        return Case(
            {"group": group, "first": str(first), "last": str(last), "orders": orders},
            answers(name(emails[0])),
            {"filters": filters, "orders": number},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look at one customer after the other until one has that number of orders."""
        yield from open_section(screen, "Customers", "I begin with who signed up then.")
        yield from apply_filters(screen, case.notes["filters"])
        emails = [line.cells["E-mail"] for line in lines(screen, "E-mail")]
        for email in emails:
            yield open_line(screen, "E-mail", email, "How often has this one ordered?")
            if screen.has("row", f"Orders | {case.notes['orders']}"):
                yield screen.stop(email, f"This one has placed {case.values['orders']}.")
                return
            yield ExpertMove("go_back", "That is another number, so it is one of the others.")
        raise ElementNotFound(f"none of them has placed {case.values['orders']}")


def _draw_complete_order(world: World, dice: Dice) -> sqlite3.Row:
    """Draw a complete order of a customer with a few orders."""
    return dice.pick(
        world.rows(
            SITE,
            "SELECT o.id, o.customer_id, c.name FROM orders o "
            "JOIN customers c ON c.id = o.customer_id WHERE o.status = 'complete' "
            "AND (SELECT count(*) FROM orders WHERE customer_id = c.id) BETWEEN 2 AND 5 "
            "ORDER BY o.id",
        )
    )


def _draw_item(world: World, dice: Dice, order_id: int) -> str:
    items = world.rows(SITE, "SELECT name FROM order_items WHERE order_id = ?", order_id)
    product: str = dice.pick(items)["name"]
    return product


def _times_bought(world: World, customer_id: int, product: str) -> int:
    times: int = world.value(
        SITE,
        "SELECT count(*) FROM order_items i JOIN orders o ON o.id = i.order_id "
        "WHERE o.customer_id = ? AND i.name = ?",
        customer_id,
        product,
    )
    return times


def _look_through(case: Case, screen: Screen, numbers: Sequence[str]) -> Iterator[ExpertMove]:
    """Open a customer's orders until the product is in one."""
    for number in numbers:
        yield screen.click("link", number, "Was the product bought with this order?")
        if screen.has("link", case.values["product"]):
            return
        yield screen.click("link", case.values["customer"], "It is not in it, so I go back.")


class ReturnedGoods(Template):
    """The order is refunded in which a customer bought a product."""

    number = 52
    sites = (SITE,)
    split = "train"
    intents = (
        'Refund {customer}\'s order with the "{product}".',
        'Refund the order in which {customer} bought the "{product}".',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order with a product that is in none of the customer's few others."""
        order = _draw_complete_order(world, dice)
        product = _draw_item(world, dice, order["id"])
        if _times_bought(world, order["customer_id"], product) != 1:
            return None
        goal = changes(
            row("orders", id=order["id"], status="refunded"),
            row("order_comments", order_id=order["id"], status="refunded"),
        )
        return Case({"customer": order["name"], "product": product}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the customer's complete orders one after the other."""
        yield from open_customer(screen, case.values["customer"])
        numbers = [
            line.cells["Number"]
            for line in lines(screen, "Number")
            if line.cells["Status"] == "complete"
        ]
        yield from _look_through(case, screen, numbers)
        yield screen.click("button", "Refund", "The product is in this order; I refund it.")
        yield screen.stop("", "The order has been refunded.")


class NeverBought(Template):
    """An order shall be refunded with a product that the customer never bought."""

    number = 151
    sites = (SITE,)
    split = "train"
    is_impossible = True
    intents = ReturnedGoods.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer, and a product that another one has bought."""
        order, another = _draw_complete_order(world, dice), _draw_complete_order(world, dice)
        product = _draw_item(world, dice, another["id"])
        if _times_bought(world, order["customer_id"], product):
            return None
        goal = impossible(
            ("order", "bought", "buy", "purchase"),
            ("product", "it ", "it.", "that item", "this item", product, *_short(product)),
            (*NONE, "somebody else", "someone else"),
            about=(order["name"], product),
            pages=pages_of(world, order["customer_id"], order["name"]),
        )
        return Case({"customer": order["name"], "product": product}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open all of the customer's orders and find the product in none."""
        customer, product = case.values["customer"], case.values["product"]
        yield from open_customer(screen, customer)
        numbers = [line.cells["Number"] for line in lines(screen, "Number")]
        yield from _look_through(case, screen, numbers)
        if screen.has("link", product):
            raise ElementNotFound("the product was bought after all")
        yield screen.give_up(f"No order of {customer} holds the {product}.")


def _short(product: str) -> tuple[str, ...]:
    """Return how a product is called without its variant, and without its brand."""
    base = product.partition(",")[0]
    words = base.split()
    return base, " ".join(words[-2:]), words[-1]
