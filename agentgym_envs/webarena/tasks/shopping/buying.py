"""Tasks with the cart and the checkout."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.sites.shopping.delivery import (
    PAYMENT_METHODS,
    SHIPPING_METHODS,
    discount_of,
)
from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping.template_helpers import (
    AGENT_ID,
    COST,
    SITE,
    add_to_cart,
    cart_is,
    cell,
    cents_in,
    empty_cart,
    open_cart,
    open_category,
    open_product,
    rows,
    same_number_of,
    tiles,
)
from agentgym_envs.webarena.tasks.template import (
    Case,
    Template,
    World,
    changed,
    state_of,
)

_ON_SALE = (
    f"SELECT p.id, p.name, p.stock, {COST} AS cost FROM products p WHERE p.is_enabled "
    "AND p.stock >= 5 ORDER BY p.id"
)


class BuyMostReviewed(Template):
    """Buy the most reviewed product of a category; the whole checkout."""

    number = 6
    sites = (SITE,)
    split = "train"
    intent = (
        "Order {quantity} of the most reviewed product in the category {category}. Have them sent "
        "to my address in {town} by {method} and choose {payment} as payment method."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw category, quantity, address and methods."""
        leaf = rng.choice(
            rows(
                world,
                "SELECT c.id, c.name, g.name AS above FROM categories c JOIN categories g "
                "ON g.id = c.parent_id ORDER BY c.id",
            )
        )
        products = rows(
            world,
            "SELECT p.id, p.name, p.stock, (SELECT count(*) FROM reviews r WHERE "
            "r.product_id = p.id AND r.status = 'approved') AS reviews FROM products p "
            "WHERE p.category_id = ? AND p.is_enabled ORDER BY reviews DESC, p.id",
            leaf["id"],
        )
        quantity = rng.randint(2, 9)
        if products[0]["reviews"] == products[1]["reviews"] or products[0]["stock"] < quantity:
            return None
        address = rng.choice(
            rows(world, f"SELECT * FROM addresses WHERE customer_id = {AGENT_ID} ORDER BY id")
        )
        method, payment = rng.choice(SHIPPING_METHODS).title, rng.choice(PAYMENT_METHODS)[1]
        last = world.value(SITE, "SELECT max(id) FROM orders")
        order = [AGENT_ID, "pending", address["name"], address["street"], method, payment]
        goal = changed(
            state_of(
                SITE,
                "SELECT customer_id, status, name, street, shipping_method, payment_method "
                f"FROM orders WHERE id > {last} ORDER BY id",
                [order],
            ),
            state_of(
                SITE,
                f"SELECT product_id, quantity FROM order_items WHERE order_id > {last} ORDER BY id",
                [[products[0]["id"], quantity]],
            ),
            cart_is(),
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


def _choose(screen: Screen, text: str, thought: str, *, at_end: bool = False) -> ExpertMove:
    """Choose the radio button whose name begins, or ends, with a text."""
    for node in screen.all("radio"):
        if node.name.endswith(text) if at_end else node.name.startswith(text):
            return screen.click_node(node, thought)
    raise ElementNotFound(f"no radio button {text!r} on {screen.url}")


class SpendBudget(Template):
    """Put as many of a product into the cart as a budget allows."""

    number = 11
    sites = (SITE,)
    split = "train"
    intent = (
        "Put as many pieces of {product} into my cart as {budget} can pay for, not counting "
        "shipping. Do not check out."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product, a quantity, and a round budget that is just enough for it."""
        product = rng.choice(rows(world, _ON_SALE))
        quantity, cost = rng.randint(3, 18), product["cost"]
        dollars = (cost * quantity + rng.randrange(cost)) // 100
        if quantity > product["stock"] or dollars * 100 // cost != quantity:
            return None
        return Case(
            {"product": product["name"], "budget": f"${dollars:,}"},
            changed(cart_is((product["id"], quantity)), same_number_of(world, "orders")),
        )

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
    intent = (
        'Put {quantity} of {product} into my cart and use the coupon code of the offer "{offer}". '
        "What is the total of the cart then? Answer with the amount alone, written like $1,234.50."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product and an offer of today."""
        product = rng.choice(rows(world, _ON_SALE))
        offers = rows(
            world,
            "SELECT * FROM coupons WHERE is_active AND ? BETWEEN starts_on AND ends_on ORDER BY id",
            NOW[:10],
        )
        offer, quantity = rng.choice(offers), rng.randint(2, 5)
        subtotal = product["cost"] * quantity
        total = subtotal - discount_of(subtotal, offer["percent"])
        coupon = f"SELECT coupon FROM checkouts WHERE customer_id = {AGENT_ID}"
        values = {
            "quantity": str(quantity),
            "product": product["name"],
            "offer": offer["name"],
        }
        goal = changed(
            cart_is((product["id"], quantity)),
            state_of(SITE, coupon, [[offer["code"]]]),
            same_number_of(world, "orders"),
            answer=money(total),
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
