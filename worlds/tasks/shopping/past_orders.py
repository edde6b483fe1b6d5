"""Tasks about the agent's own orders."""

from __future__ import annotations

from agentgym_envs.sites.filters import MONTHS
from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.state import NOW
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import (
    NONE,
    all_of,
    amount,
    answers,
    changes,
    identifier,
    impossible,
    number,
    page,
)
from worlds.tasks.shopping.draws import BOUGHT, in_cart, order_page, orders_with, rows
from worlds.tasks.template import Case, Template, World


def _month_name(months: int) -> str:
    return f"{MONTHS[months % 12]} {months // 12}"


class SpentInMonths(Template):
    """How much was spent in some months."""

    number = 3
    sites = (SITE,)
    split = "train"
    intents = (
        "What did my complete orders from {first} to {last} cost, shipping included?",
        "How much did I spend on complete orders from {first} to {last}, shipping included?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw up to four months in which at least two orders were completed."""
        now = int(NOW[:4]) * 12 + int(NOW[5:7]) - 1
        last = now - dice.between(1, 22)
        first = last - dice.between(1, 3)
        totals = [
            row["total"]
            for row in rows(
                world,
                f"SELECT total, created_at FROM orders WHERE customer_id = {AGENT_ID} "
                "AND status = 'complete'",
            )
            if first <= int(row["created_at"][:4]) * 12 + int(row["created_at"][5:7]) - 1 <= last
        ]
        if len(totals) < 2:
            return None
        goal = answers(amount(sum(totals)))
        return Case({"first": _month_name(first), "last": _month_name(last)}, goal)


class TrackingNumber(Template):
    """The tracking number of an order that is known by a product."""

    number = 4
    sites = (SITE,)
    split = "test"
    intents = (
        "Give the tracking number of my latest order with {product}.",
        "What is the tracking number of the latest order in which I bought {product}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product whose latest order was sent."""
        product = dice.pick(rows(world, BOUGHT))["name"]
        latest = orders_with(world, product)[0]
        sent = rows(world, "SELECT * FROM shipments WHERE order_id = ?", latest["id"])
        if len(sent) != 1:
            return None
        return Case({"product": product}, answers(identifier(sent[0]["tracking_number"])))


class TrackUnsentOrder(Template):
    """The tracking number of an order that was never sent."""

    number = 145
    sites = (SITE,)
    split = "test"
    is_impossible = True
    intents = TrackingNumber.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product whose latest order was not sent."""
        product = dice.pick(rows(world, BOUGHT))["name"]
        latest = orders_with(world, product)[0]
        if rows(world, "SELECT * FROM shipments WHERE order_id = ?", latest["id"]):
            return None
        status = latest["status"][:6]  # cancelled has one l or two
        sending = ("track", "ship", "sent", "dispatch", "delivered", "delivery")
        goal = impossible(
            (*sending, status),
            (*NONE, status),
            about=[product],
            pages=(page(SITE, "/account/orders", product=product), order_page(latest)),
            also=["pending"],
        )
        return Case({"product": product}, goal)


class OrderAgain(Template):
    """Put an old order into the cart again."""

    number = 5
    sites = (SITE,)
    split = "train"
    intents = (
        "Put my latest order with {product} into my cart again.",
        "Put everything from my latest order with {product} into my cart again, in the same "
        "quantities.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product whose latest order can be had again as it was."""
        product = dice.pick(rows(world, BOUGHT))["name"]
        latest = orders_with(world, product)[0]
        items = rows(
            world,
            "SELECT i.product_id, i.quantity, p.is_enabled AND p.stock >= i.quantity AS can_be_had "
            "FROM order_items i LEFT JOIN products p ON p.id = i.product_id WHERE i.order_id = ?",
            latest["id"],
        )
        if not all(item["can_be_had"] for item in items):
            return None
        goal = changes(*(in_cart(item["product_id"], item["quantity"]) for item in items))
        return Case({"product": product}, goal)


class BoughtInYears(Template):
    """How many of a product were bought in a year or two, over several orders, and for how much."""

    number = 19
    sites = (SITE,)
    split = "test"
    intents = (
        "How many {product} did I buy in complete orders of {years}, and what did they cost "
        "before discounts?",
        "Counting complete orders only, how many {product} did I buy in {years}, and for how much "
        "before discounts and shipping?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product and one or two years with a few orders."""
        product = dice.pick(rows(world, BOUGHT))["name"]
        years = dice.pick(("2024", "2025", "2026", "2024 and 2025", "2025 and 2026"))
        complete = [row for row in orders_with(world, product) if row["status"] == "complete"]
        orders = [row["id"] for row in complete if row["created_at"][:4] in years]
        if not 1 <= len(orders) <= 6 or len(complete) > 9:
            return None
        marks = ", ".join(map(str, orders))
        count, cents = rows(
            world,
            "SELECT total(quantity), total(quantity * price) FROM order_items "
            f"WHERE order_id IN ({marks}) AND name = ?",
            product,
        )[0]
        if count < 2:
            return None
        answer = all_of(number(int(count), "piece"), amount(int(cents)))
        return Case({"product": product, "years": years}, answers(answer))
