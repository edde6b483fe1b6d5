"""Tasks with the cart and the checkout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.shopping.delivery import (
    PAYMENT_METHODS,
    SHIPPING_METHODS,
    coupon_discount,
)
from agentgym_envs.sites.state import NOW
from worlds.dice import Dice
from worlds.tasks.goals import amount, changes, row
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.shopping.draws import COST, LEAVES, in_cart, rows
from worlds.tasks.shopping.steps import (
    SITE,
    add_to_cart,
    cell,
    cents_in,
    empty_cart,
    open_cart,
    open_category,
    open_product,
    tiles,
)
from worlds.tasks.template import Case, Template, World

_ON_SALE = (
    f"SELECT p.id, p.name, p.stock, {COST} AS cost FROM products p WHERE p.is_enabled "
    "AND p.stock >= 5 ORDER BY p.id"
)


def _choose(screen: Screen, text: str, thought: str, *, at_end: bool = False) -> ExpertMove:
    """Choose the radio button whose name begins, or ends, with a text."""
    for node in screen.all("radio"):
        if node.name.endswith(text) if at_end else node.name.startswith(text):
            return screen.click_node(node, thought)
    raise ElementNotFound(f"no radio button {text!r} on {screen.url}")


class BuyMostReviewed(Template):
    """Buy the most reviewed product of a category, through the complete checkout."""

    number = 6
    sites = (SITE,)
    split = "train"
    intents = (
        "Order {quantity} of the most reviewed {category} product: {method}, my {town} address, "
        "{payment}.",
        "Order {quantity} of the most reviewed product in {category}: {method} to my {town} "
        "address, pay by {payment}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw category, quantity, address and methods."""
        leaf = dice.pick(rows(world, LEAVES))
        products = rows(
            world,
            "SELECT p.id, p.name, p.stock, (SELECT count(*) FROM reviews r WHERE "
            "r.product_id = p.id AND r.status = 'approved') AS reviews FROM products p "
            "WHERE p.category_id = ? AND p.is_enabled ORDER BY reviews DESC, p.id",
            leaf["id"],
        )
        product, quantity = products[0], dice.between(2, 9)
        if product["reviews"] == products[1]["reviews"] or product["stock"] < quantity:
            return None
        address = dice.pick(
            rows(world, f"SELECT * FROM addresses WHERE customer_id = {AGENT_ID} ORDER BY id")
        )
        method, payment = dice.pick(SHIPPING_METHODS).title, dice.pick(PAYMENT_METHODS)[1]
        goal = changes(
            row(
                "orders",
                **{column: address[column] for column in ("name", "street", "town", "postcode")},
                customer_id=AGENT_ID,
                status="pending",
                shipping_method=method,
                payment_method=payment,
                coupon=None,
            ),
            row("order_items", product_id=product["id"], quantity=quantity),
            row("products", id=product["id"], stock=product["stock"] - quantity),
        )
        values = {
            "quantity": str(quantity),
            "category": leaf["name"],
            "town": address["town"],
            "method": method,
            "payment": payment,
        }
        return Case(values, goal, {"above": leaf["above"]})

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort, add, check out."""
        values = case.values
        yield from empty_cart(screen)
        yield from open_category(screen, case.notes["above"], values["category"])
        yield screen.choose("Sort by", "Most reviewed", "Sorted so, the most reviewed comes first.")
        yield screen.click("button", "Apply filters", "I apply the order.")
        yield screen.click_node(first_of(tiles(screen)).link, "This product has the most reviews.")
        yield from add_to_cart(screen, int(values["quantity"]))
        yield open_cart(screen)
        yield screen.click("link", "Go to checkout", "The cart is right; I check out.")
        yield _choose(screen, values["town"], "It goes to this town.", at_end=True)
        yield screen.click("button", "Continue", "The address is chosen.")
        yield _choose(screen, values["method"], "This is the shipping method asked for.")
        yield _choose(screen, values["payment"], "This is the payment method asked for.")
        yield screen.click("button", "Continue", "I go on to the review.")
        yield screen.click("button", "Place order", "Everything is as it should be.")
        yield screen.stop()


class SpendBudget(Template):
    """Fill the cart with a product up to a budget."""

    number = 11
    sites = (SITE,)
    split = "train"
    intents = (
        "Put as many {product} into my cart as {budget} buys before shipping.",
        "I have {budget} to spend before shipping: put as many {product} into my cart as that "
        "buys.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product, a quantity, and a round budget that is just enough for it."""
        product = dice.pick(rows(world, _ON_SALE))
        quantity, cost = dice.between(3, 18), product["cost"]
        dollars = (cost * quantity + dice.below(cost)) // 100
        if quantity > product["stock"] or dollars * 100 // cost != quantity:
            return None
        values = {"product": product["name"], "budget": f"${dollars:,}"}
        return Case(values, changes(in_cart(product["id"], quantity)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the price, divide, add."""
        yield from empty_cart(screen)
        yield from open_product(screen, case.values["product"])
        cost = cents_in(screen.starting("StaticText", "$").name)
        budget = int(re.sub(r"\D", "", case.values["budget"])) * 100
        yield from add_to_cart(screen, budget // cost)
        yield screen.stop()


class OfferTotal(Template):
    """Use the coupon of an offer that must be looked up."""

    number = 12
    sites = (SITE,)
    split = "train"
    intents = (
        'Put {quantity} of {product} in my cart with the "{offer}" coupon. What is the total?',
        'Put {quantity} of {product} into my cart and use the coupon of the offer "{offer}". What '
        "is the total then?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product and an offer of today."""
        product = dice.pick(rows(world, _ON_SALE))
        offers = rows(
            world,
            "SELECT * FROM coupons WHERE is_active AND ? BETWEEN starts_on AND ends_on ORDER BY id",
            NOW[:10],
        )
        offer, quantity = dice.pick(offers), dice.between(2, 5)
        subtotal = product["cost"] * quantity
        total = subtotal - coupon_discount(subtotal, offer["percent"])
        values = {
            "quantity": str(quantity),
            "product": product["name"],
            "offer": offer["name"],
        }
        goal = changes(
            in_cart(product["id"], quantity),
            row("checkouts", customer_id=AGENT_ID, coupon=offer["code"]),
            answer=amount(total),
        )
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look the code up, fill the cart, apply the code."""
        yield from empty_cart(screen)
        yield screen.click("link", "Current offers", "The codes are told among the offers.")
        text = screen.starting("StaticText", f"{case.values['offer']}: ").name
        match = re.search(r"with the code (\w+)", text)
        if match is None:
            raise ElementNotFound(f"no code in {text!r}")
        yield from open_product(screen, case.values["product"])
        yield from add_to_cart(screen, int(case.values["quantity"]))
        yield open_cart(screen)
        yield screen.fill("textbox", "Coupon code", match[1], "This is the code of the offer.")
        yield screen.click("button", "Apply coupon", "I apply the code.")
        yield screen.stop(cell(screen, "Total"), "The summary tells the total.")
