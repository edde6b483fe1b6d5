"""Tasks about the agent's own orders."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import MONTHS, money
from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping.template_helpers import (
    AGENT_ID,
    BOUGHT,
    SITE,
    cart_is,
    cents_in,
    empty_cart,
    order_links,
    orders_with,
    rows,
    same_number_of,
    show_orders,
    table_rows,
)
from agentgym_envs.webarena.tasks.template import (
    Case,
    Template,
    World,
    changed,
    exact_answer,
)


def _month_of(date: str) -> int:
    """Count the months of a date such as `"14 March 2026"` from the year 0."""
    _, month, year = date.split()
    return int(year) * 12 + MONTHS.index(month)


def _month_name(months: int) -> str:
    return f"{MONTHS[months % 12]} {months // 12}"


class SpentInMonths(Template):
    """How much was spent in some months."""

    number = 3
    sites = (SITE,)
    split = "train"
    intent = (
        "How much did I spend from the beginning of {first} to the end of {last}, shipping "
        "included, counting complete orders only? Answer with the amount alone, written like "
        "$1,234.50."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw up to four months in which at least two orders were completed."""
        now = int(NOW[:4]) * 12 + int(NOW[5:7]) - 1
        last = now - rng.randrange(1, 23)
        first = last - rng.randrange(1, 4)
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
        return Case(
            {"first": _month_name(first), "last": _month_name(last)},
            exact_answer(money(sum(totals))),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Add up the complete orders, page after page."""
        first, last = (_month_of(f"1 {case.values[slot]}") for slot in ("first", "last"))
        yield from show_orders(screen, status="Complete")
        total = 0
        while True:
            months = [(_month_of(cells[1]), cents_in(cells[3])) for _, cells in order_links(screen)]
            total += sum(cents for month, cents in months if first <= month <= last)
            if months[-1][0] < first or not screen.has("link", "Next"):
                break
            yield screen.click("link", "Next", f"{money(total)} so far; I look at older orders.")
        yield screen.stop(money(total), "These were all orders of these months.")


class TrackingNumber(Template):
    """The tracking number of an order that is known by a product."""

    number = 4
    sites = (SITE,)
    split = "test"
    intent = (
        "I want to know what became of the latest order in which I bought {product}. What is its "
        "tracking number? Answer with the tracking number alone."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product whose latest order was sent."""
        product = rng.choice(rows(world, BOUGHT))["name"]
        latest = orders_with(world, product)[0]
        sent = rows(world, "SELECT * FROM shipments WHERE order_id = ?", latest["id"])
        if len(sent) != 1:
            return None
        return Case({"product": product}, exact_answer(sent[0]["tracking_number"]))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the order by the product, then read."""
        yield from show_orders(screen, product=case.values["product"])
        link, _ = first_of(order_links(screen))
        yield screen.click_node(link, "The latest order comes first.")
        text = screen.starting("StaticText", "Sent on ").name
        yield screen.stop(text.rsplit(" ", 1)[1], "The number stands under delivery.")


class OrderAgain(Template):
    """Put an old order into the cart again."""

    number = 5
    sites = (SITE,)
    split = "train"
    intent = (
        "Put everything from my latest order that contains {product} into my cart again, in the "
        "same quantities. Do not check out."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product whose latest order can be had again as it was."""
        product = rng.choice(rows(world, BOUGHT))["name"]
        latest = orders_with(world, product)[0]
        items = rows(
            world,
            "SELECT i.product_id, i.quantity, p.is_enabled AND p.stock >= i.quantity AS can_be_had "
            "FROM order_items i LEFT JOIN products p ON p.id = i.product_id WHERE i.order_id = ?",
            latest["id"],
        )
        if not all(item["can_be_had"] for item in items):
            return None
        goal = cart_is(*((item["product_id"], item["quantity"]) for item in items))
        return Case({"product": product}, changed(goal, same_number_of(world, "orders")))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the order and use its button."""
        yield from empty_cart(screen)
        yield from show_orders(screen, product=case.values["product"])
        link, _ = first_of(order_links(screen))
        yield screen.click_node(link, "The latest order comes first.")
        yield screen.click("button", "Reorder", "This puts everything into the cart.")
        yield screen.stop()


class BoughtInYears(Template):
    """How many of a product were bought in a year or two, over several orders, and for how much."""

    number = 19
    sites = (SITE,)
    split = "test"
    intent = (
        "How many pieces of {product} did I buy in {years} in all, and what did these pieces cost "
        "without discounts and shipping? Count complete orders only, and answer like 4, $1,234.50"
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product and one or two years with a few orders."""
        product = rng.choice(rows(world, BOUGHT))["name"]
        years = rng.choice(("2024", "2025", "2026", "2024 and 2025", "2025 and 2026"))
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
        answer = f"{int(count)}, {money(int(cents))}"
        return Case({"product": product, "years": years}, exact_answer(answer))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open each of the orders."""
        yield from show_orders(screen, status="Complete", product=case.values["product"])
        orders = [
            cells[0]
            for _, cells in order_links(screen)
            if cells[1].split()[-1] in case.values["years"]
        ]
        count = total = 0
        for number in orders:
            yield screen.click("link", number, "This order is of the time asked for.")
            quantity, cents = _line_of(screen, case.values["product"])
            count, total = count + quantity, total + cents
            if number != orders[-1]:
                yield ExpertMove("go_back", f"{count} so far; I go back to the list.")
        yield screen.stop(f"{count}, {money(total)}", "I have added up all orders.")


def _line_of(screen: Screen, product: str) -> tuple[int, int]:
    """Return how many pieces of a product an order holds, and what they cost in cents."""
    for _, cells in table_rows(screen):
        if cells[0] == product and len(cells) == 4:
            return int(cells[2]), cents_in(cells[3])
    raise ElementNotFound(f"the order does not hold {product!r}")
