"""Tasks about the agent's own orders."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import MONTHS, money
from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.state import NOW
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
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.shopping.draws import BOUGHT, in_cart, order_page, orders_with, rows
from worlds.tasks.shopping.steps import (
    SITE,
    cents_in,
    empty_cart,
    order_links,
    show_orders,
    table_rows,
)
from worlds.tasks.template import Case, Template, World


def _month_name(months: int) -> str:
    return f"{MONTHS[months % 12]} {months // 12}"


def _month_of(date: str) -> int:
    """Count the months of a date such as `"14 March 2026"` from the year 0."""
    _, month, year = date.split()
    return int(year) * 12 + MONTHS.index(month)


class SpentInMonths(Template):
    """The sum of the orders of some months."""

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


def _open_latest(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from show_orders(screen, product=case.values["product"])
    link, _ = first_of(order_links(screen))
    yield screen.click_node(link, "The latest order comes first.")


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the order by the product, then read."""
        yield from _open_latest(case, screen)
        text = screen.starting("StaticText", "Sent on ").name
        yield screen.stop(text.rsplit(" ", 1)[1], "The number stands under delivery.")


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for a delivery on the order's page, which has none."""
        yield from _open_latest(case, screen)
        if any(text.name.startswith("Sent on ") for text in screen.all("StaticText")):
            raise ElementNotFound("the order was sent after all")
        yield screen.give_up("The latest order with it was not sent, so it has no tracking number.")


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the order and use its button."""
        yield from empty_cart(screen)
        yield from _open_latest(case, screen)
        yield screen.click("button", "Reorder", "This puts everything into the cart.")
        yield screen.stop()


def _line_of(screen: Screen, product: str) -> tuple[int, int]:
    """Return a product's quantity in an order, and its total price in cents."""
    for _, cells in table_rows(screen):
        if cells[0] == product and len(cells) == 4:
            return int(cells[2]), cents_in(cells[3])
    raise ElementNotFound(f"the order does not hold {product!r}")


class BoughtInYears(Template):
    """The quantity and the price of a product bought in a year or two, over several orders."""

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open each of the orders."""
        yield from show_orders(screen, status="Complete", product=case.values["product"])
        orders = [
            cells[0]
            for _, cells in order_links(screen)
            if cells[1].split()[-1] in case.values["years"]
        ]
        count = total = 0
        for order in orders:
            yield screen.click("link", order, "This order is of the time asked for.")
            quantity, cents = _line_of(screen, case.values["product"])
            count, total = count + quantity, total + cents
            if order != orders[-1]:
                yield ExpertMove("go_back", f"{count} so far; I go back to the list.")
        yield screen.stop(f"{count}, {money(total)}", "I have added up all orders.")
