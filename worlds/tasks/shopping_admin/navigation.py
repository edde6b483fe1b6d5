"""Tasks that end on the form of one thing that has to be found out: an order, a product."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.forms import read_amount
from worlds.dice import Dice
from worlds.tasks.goals import impossible, shows
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.shopping_admin.draws import draw_period, pages_of
from worlds.tasks.shopping_admin.steps import (
    SITE,
    Line,
    apply_filters,
    lines,
    open_customer,
    open_section,
)
from worlds.tasks.template import Case, Template, World


class AddressForm(Template):
    """The form is opened for the shipping address of a period's dearest or cheapest order."""

    number = 56
    sites = (SITE,)
    split = "train"
    intents = (
        "Open the address form of the {status} order with the {extreme} total in {period}.",
        "Open the form for the shipping address of the {status} order with the {extreme} total "
        "placed in {period}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a period with three or more orders of a status, one of which stands out."""
        period = draw_period(dice)
        status = dice.pick(("complete", "complete", "cancelled", "refunded"))
        extreme = dice.pick(("highest", "lowest"))
        rows = world.rows(
            SITE,
            "SELECT number, total FROM orders WHERE status = ? AND created_at BETWEEN ? AND ? "
            f"ORDER BY total {'DESC' if extreme == 'highest' else 'ASC'} LIMIT 3",
            status,
            *period.between,
        )
        if len(rows) < 3 or rows[0]["total"] == rows[1]["total"]:
            return None
        return Case(
            {"extreme": extreme, "status": status, "period": period.text},
            shows(f"__SHOPPING_ADMIN__/orders/{rows[0]['number']}/address"),
            {"filters": {"Status": status, **period.filters}},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort the filtered orders by total and open the form of the first one."""
        extreme = case.values["extreme"]
        sort = "Total: high to low" if extreme == "highest" else "Total: low to high"
        yield from open_section(screen, "Orders", "The orders can be filtered and sorted by total.")
        yield from apply_filters(screen, case.notes["filters"], sort=sort)
        link = first_of(screen.below(first_of(lines(screen, "Number")).node, "link"))
        yield screen.click_node(link, f"The order with the {extreme} total comes first.")
        yield screen.click("link", "Edit shipping address", "The form is behind this link.")
        yield screen.stop("", "This is the form; I only had to open it.")


_WHICH = ("first", "most recent", "most expensive")


def _number_in(line: Line, heading: str) -> int:
    """Return an amount in cents, or a number times a hundred."""
    return read_amount(line.cells[heading]) or 0


MOST = {
    "with the highest price per piece": ("price", "Price"),
    "that was bought in the largest quantity": ("quantity", "Quantity"),
}
"""Rules that choose a product of an order: the column of its table, and of the page."""


class BoughtProduct(Template):
    """A product is opened that stands out in one of a customer's orders."""

    number = 58
    sites = (SITE,)
    split = "test"
    intents = (
        "Open the product {what} in {customer}'s {which} order for editing.",
        "Open the form to edit the product {what} in the {which} order of our customer {customer}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer with a few orders, one of these, and a superlative of its products."""
        customer = dice.pick(
            world.rows(
                SITE,
                "SELECT c.id, c.name FROM customers c JOIN orders o ON o.customer_id = c.id "
                "GROUP BY c.id HAVING count(*) BETWEEN 3 AND 8 ORDER BY c.id",
            )
        )
        which = dice.pick(_WHICH)
        column = {"first": "created_at", "most recent": "created_at DESC"}.get(which, "total DESC")
        orders = world.rows(
            SITE,
            "SELECT id, total, created_at FROM orders WHERE customer_id = ? "
            f"ORDER BY {column} LIMIT 2",
            customer["id"],
        )
        what = dice.pick(tuple(MOST))
        items = world.rows(
            SITE,
            f"SELECT product_id, {MOST[what][0]} AS most FROM order_items WHERE order_id = ? "
            "ORDER BY most DESC",
            orders[0]["id"],
        )
        is_tied = orders[0][column.split()[0]] == orders[1][column.split()[0]]
        if is_tied or len(items) < 2 or items[0]["most"] == items[1]["most"]:
            return None
        return Case(
            {"customer": customer["name"], "which": which, "what": what},
            shows(f"__SHOPPING_ADMIN__/products/{items[0]['product_id']}"),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go from the customer to the order and from there to the product."""
        which, what = case.values["which"], case.values["what"]
        yield from open_customer(screen, case.values["customer"])
        orders = lines(screen, "Number")
        if which == "most expensive":
            order = max(orders, key=lambda line: read_amount(line.cells["Total"]) or 0)
            why = f"The highest total is {order.cells['Total']}."
        else:
            order = orders[-1 if which == "first" else 0]
            line = "last" if which == "first" else "first"
            why = f"The newest come first, so the {which} order is the {line} one here."
        yield screen.click_node(first_of(screen.below(order.node, "link")), why)
        items = [line for line in lines(screen, "SKU") if screen.below(line.node, "link")]
        heading = MOST[what][1]
        product = max(items, key=lambda line: _number_in(line, heading))
        yield screen.click_node(
            first_of(screen.below(product.node, "link")),
            f"{heading} {product.cells[heading]} is the highest of this order.",
        )
        yield screen.stop("", "This is the form of that product; I only had to open it.")


class ProductOfNoOrder(Template):
    """A product shall be opened from an order of a customer who has none."""

    number = 152
    sites = (SITE,)
    split = "test"
    is_impossible = True
    intents = BoughtProduct.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a customer without orders."""
        customer = dice.pick(
            world.rows(
                SITE,
                "SELECT id, name FROM customers "
                "WHERE id NOT IN (SELECT customer_id FROM orders) ORDER BY id",
            )
        )
        name, which, what = customer["name"], dice.pick(_WHICH), dice.pick(tuple(MOST))
        pages = pages_of(world, customer["id"], name)
        goal = impossible(("order",), _NO_ORDERS, about=[name], pages=pages)
        return Case({"customer": name, "which": which, "what": what}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the customer's page, which lists no orders."""
        customer = case.values["customer"]
        yield from open_customer(screen, customer)
        if not screen.has("row", "Orders | 0"):
            raise ElementNotFound(f"{customer} has ordered after all")
        yield screen.give_up(f"{customer} has placed no orders.")


_NO_ORDERS = ("no order", "not have any order", "n't have any order", "not order", "n't order",
              "not placed", "n't placed", "not place", "n't place", "not made", "n't made",
              "never order", "never placed", "never made", "never bought", "without order",
              "without any order", "zero order", "0 order", "orders: 0", "ordered nothing",
              "has none", "is empty", "no purchase", "not bought", "n't bought",
              "yet to")  # fmt: skip
"""Words of reasons that there are no orders at all."""
