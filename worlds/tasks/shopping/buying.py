"""Tasks with the cart and the checkout."""

from __future__ import annotations

from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.sites.shopping.delivery import (
    PAYMENT_METHODS,
    SHIPPING_METHODS,
    discount_of,
)
from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.shopping.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.shopping.draws import AGENT_ID, COST, cart_is, rows, same_number_of
from worlds.tasks.template import Case, Template, World, changed, state_of

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

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw category, quantity, address and methods."""
        leaf = dice.pick(
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
        quantity = dice.between(2, 9)
        if products[0]["reviews"] == products[1]["reviews"] or products[0]["stock"] < quantity:
            return None
        address = dice.pick(
            rows(world, f"SELECT * FROM addresses WHERE customer_id = {AGENT_ID} ORDER BY id")
        )
        method, payment = dice.pick(SHIPPING_METHODS).title, dice.pick(PAYMENT_METHODS)[1]
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


class SpendBudget(Template):
    """Put as many of a product into the cart as a budget allows."""

    number = 11
    sites = (SITE,)
    split = "train"
    intent = (
        "Put as many pieces of {product} into my cart as {budget} can pay for, not counting "
        "shipping. Do not check out."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product, a quantity, and a round budget that is just enough for it."""
        product = dice.pick(rows(world, _ON_SALE))
        quantity, cost = dice.between(3, 18), product["cost"]
        dollars = (cost * quantity + dice.below(cost)) // 100
        if quantity > product["stock"] or dollars * 100 // cost != quantity:
            return None
        return Case(
            {"product": product["name"], "budget": f"${dollars:,}"},
            changed(cart_is((product["id"], quantity)), same_number_of(world, "orders")),
        )


class OfferTotal(Template):
    """Use the coupon of an offer that must be looked up."""

    number = 12
    sites = (SITE,)
    split = "train"
    intent = (
        'Put {quantity} of {product} into my cart and use the coupon code of the offer "{offer}". '
        "What is the total of the cart then? Answer with the amount alone, written like $1,234.50."
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
