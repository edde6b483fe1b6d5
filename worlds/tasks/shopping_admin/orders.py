"""Tasks about orders: holding, telling the customer, another address."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import money
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.sites.shopping.customers import postcode_of, street
from worlds.tasks.goals import changes, impossible, page, row
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.shopping_admin.steps import (
    SITE,
    apply_filters,
    change_ticked,
    lines,
    open_customer,
    open_order,
    open_section,
)
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_OPEN = "('pending', 'processing')"


class HoldOrders(Template):
    """Hold large orders back until they are checked."""

    number = 42
    sites = (SITE,)
    split = "test"
    intents = (
        "Put on hold all {status} orders of {amount} or more from {day} on.",
        "Put on hold all orders that are {status}, come to {amount} or more and were placed on "
        "{day} or later.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw bounds that one to eight orders meet."""
        status = dice.pick(("pending", "processing"))
        least = 1000 * dice.between(3, 59)
        day = f"2026-03-{dice.between(1, 13):02}"
        orders = world.rows(
            SITE,
            "SELECT id FROM orders WHERE status = ? AND total >= ? AND created_at >= ? ORDER BY id",
            status,
            least,
            day,
        )
        if not 1 <= len(orders) <= 8:
            return None
        held = [row("orders", id=each["id"], status="on hold") for each in orders]
        noted = [row("order_comments", order_id=each["id"], status="on hold") for each in orders]
        return Case(
            {"status": status, "amount": money(least), "day": day},
            changes(*held, *noted),
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


_MESSAGES: tuple[str, ...] = WORDS["shopping_admin"]["messages"]


class TellCustomer(Template):
    """A comment on the newest order of a customer, sent by e-mail."""

    number = 43
    sites = (SITE,)
    split = "train"
    intents = (
        'Comment "{text}" on {customer}\'s latest order, notifying them by e-mail.',
        'Comment "{text}" on {customer}\'s latest order and notify the customer by e-mail.',
    )

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
        text = dice.pick(_MESSAGES)
        comment = row("order_comments", order_id=order_id, text=text, is_customer_notified=1)
        return Case({"text": text, "customer": customer["name"]}, changes(comment))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go to the order by way of the customer's page."""
        yield from open_customer(screen, case.values["customer"])
        newest = first_of(
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
    split = "validation"
    intents = (
        "Change order {number}'s shipping address to {street}, {postcode} {town}.",
        "Change the shipping address of order {number} to {street}, {postcode} {town}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an open order and another town."""
        order = dice.pick(
            world.rows(
                SITE,
                "SELECT id, number, street, town, postcode FROM orders "
                f"WHERE status IN {_OPEN} ORDER BY id",
            )
        )
        address = _draw_address(dice)
        if address["town"] == order["town"]:
            return None
        news = {column: text for column, text in address.items() if text != order[column]}
        values = {"number": order["number"], **address}
        return Case(values, changes(row("orders", id=order["id"], **news)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the order and change three fields of the address."""
        yield from open_order(screen, case.values["number"])
        yield screen.click("link", "Edit shipping address", "The address can be edited here.")
        yield screen.fill("textbox", "Street", case.values["street"])
        yield screen.fill("textbox", "Town", case.values["town"])
        yield screen.fill("textbox", "Postcode", case.values["postcode"])
        yield screen.click("button", "Save address", "The rest stays, so I save.")
        yield screen.stop("", "The order has its new address.")


def _draw_address(dice: Dice) -> dict[str, str]:
    town = dice.pick(TOWNS)
    return {"street": street(dice), "postcode": postcode_of(town), "town": town}


_UNKNOWN = ("no order with number", "no order with this number", "no order with that number",
            "no order with the number", "no order with such", "no order of this number",
            "no order has", "no order exists", "no such", "not exist", "n't exist", "not find",
            "n't find", "not found", "be found", "nothing", "no match", "no result", "unknown",
            "none of", "have an order", "not there", "n't there", "no record", "not in the",
            "n't in the", "invalid order",
            "number is invalid", "number is not", "number isn't", "is missing")  # fmt: skip
"""Words of reasons that there is no such order."""


class RedirectUnknownOrder(Template):
    """An order that there is not goes to another address."""

    number = 150
    sites = (SITE,)
    split = "validation"
    is_impossible = True
    intents = RedirectOrder.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a number that no order has."""
        highest = int(world.value(SITE, "SELECT max(number) FROM orders"))
        number = f"{highest + dice.between(1, 400):09}"
        goal = impossible(
            ("order",),
            (*_UNKNOWN, f"no order {number}", f"no order #{number}"),
            about=[number],
            pages=(page(SITE, "/orders", number=number), page(SITE, f"/orders/{number}")),
            lists=[page(SITE, "/orders")],
        )
        return Case({"number": number, **_draw_address(dice)}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for the order's number, which no order has."""
        number = case.values["number"]
        yield from open_section(screen, "Orders", "I have to find the order.")
        yield from apply_filters(screen, {"Order number": number})
        if lines(screen, "Number"):
            raise ElementNotFound("there is such an order after all")
        yield screen.give_up(f"There is no order {number}.")
