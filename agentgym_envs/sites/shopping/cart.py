"""The cart, and the coupon that goes with it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from starlette.responses import Response

from agentgym_envs.sites.shopping.delivery import coupon_discount
from agentgym_envs.sites.shopping.product import find_product
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext

MOST_OF_ONE = 99
"""The largest quantity of one product in a cart."""


@dataclass(frozen=True)
class Cart:
    """A cart. Amounts are cents.

    Attributes:
        items: rows with `id`, `product_id`, `name`, `slug`, `sku`, `stock`, `cost`, `quantity`.
        coupon: the coupon's row, if one is applied and still valid.
    """

    items: list[sqlite3.Row]
    coupon: sqlite3.Row | None

    @property
    def subtotal(self) -> int:
        """Sum of the items."""
        return sum(item["cost"] * item["quantity"] for item in self.items)

    @property
    def discount(self) -> int:
        """The coupon's rebate."""
        return 0 if self.coupon is None else coupon_discount(self.subtotal, self.coupon["percent"])

    @property
    def total(self) -> int:
        """The amount due without shipping."""
        return self.subtotal - self.discount


def load_cart(context: RequestContext) -> Cart:
    """Return the signed-in customer's cart."""
    items = context.rows(
        "SELECT i.id, i.product_id, i.quantity, p.name, p.slug, p.sku, p.stock, p.is_enabled, "
        "coalesce(p.special_price, p.price) AS cost FROM cart_items i "
        "JOIN products p ON p.id = i.product_id WHERE i.customer_id = ? ORDER BY i.id",
        context.user_id,
    )
    code = context.value("SELECT coupon FROM checkouts WHERE customer_id = ?", context.user_id)
    return Cart(items, valid_coupon(context, code) if code else None)


def valid_coupon(context: RequestContext, code: str) -> sqlite3.Row | None:
    """Return a coupon that can be used today."""
    today = context.now[:10]
    return context.row(
        "SELECT * FROM coupons WHERE code = ? AND is_active AND starts_on <= ? AND ends_on >= ?",
        *(code.upper(), today, today),
    )


def posted_quantity(context: RequestContext) -> int:
    """Return the posted quantity, or 0 if it is none between 1 and 99."""
    quantity = context.number("quantity")
    return quantity if 1 <= quantity <= MOST_OF_ONE else 0


def put_in_cart(
    context: RequestContext, product_id: int, quantity: int, *, replace: bool = False
) -> str:
    """Add to the cart, or set the quantity there.

    Returns:
        What is in the way; empty if nothing.
    """
    key = (context.user_id, product_id)
    row = context.row("SELECT name, stock, is_enabled FROM products WHERE id = ?", product_id)
    assert row is not None
    present = context.value(
        "SELECT quantity FROM cart_items WHERE customer_id = ? AND product_id = ?", *key
    )
    total = quantity + (0 if replace else present or 0)
    if not row["is_enabled"]:
        return f"{row['name']} is no longer sold."
    if total > row["stock"]:
        return f"Only {row['stock']} of {row['name']} are in stock."
    if total > MOST_OF_ONE:
        return f"You can order at most {MOST_OF_ONE} of {row['name']}."
    context.run(
        "INSERT INTO cart_items (customer_id, product_id, quantity) VALUES (?, ?, ?) "
        "ON CONFLICT (customer_id, product_id) DO UPDATE SET quantity = excluded.quantity",
        *(*key, total),
    )
    return ""


@SITE.post("/product/{slug}/cart")
def add(context: RequestContext, slug: str) -> Response:
    """Put a product into the cart."""
    product = find_product(context, slug)
    if context.user is None:
        return context.redirect(f"/login?next=/product/{slug}")
    quantity = posted_quantity(context)
    if not quantity:
        context.flash(f"Quantity must be a whole number from 1 to {MOST_OF_ONE}.", "error")
    elif problem := put_in_cart(context, product["id"], quantity):
        context.flash(problem, "error")
    else:
        context.flash(f"You added {quantity} x {product['name']} to your cart.")
    return context.redirect(f"/product/{slug}")


@SITE.get("/cart", signed_in=True)
def cart(context: RequestContext) -> Response:
    """Show the cart."""
    return context.render("cart.html", cart=load_cart(context), code="", error="")


@SITE.post("/cart/{item}/quantity", signed_in=True)
def change(context: RequestContext, item: str) -> Response:
    """Change how many of a product are in the cart."""
    row = _item(context, item)
    quantity = posted_quantity(context)
    if not quantity:
        context.flash(f"Quantity must be a whole number from 1 to {MOST_OF_ONE}.", "error")
    elif problem := put_in_cart(context, row["product_id"], quantity, replace=True):
        context.flash(problem, "error")
    else:
        context.flash("Your cart was updated.")
    return context.redirect("/cart")


@SITE.post("/cart/{item}/remove", signed_in=True)
def remove(context: RequestContext, item: str) -> Response:
    """Take a product out of the cart."""
    _item(context, item)
    context.run("DELETE FROM cart_items WHERE id = ?", item)
    context.flash("The product was removed from your cart.")
    return context.redirect("/cart")


@SITE.post("/cart/coupon", signed_in=True)
def coupon(context: RequestContext) -> Response:
    """Apply a coupon. An empty code removes it."""
    code = context.field("code")
    row = valid_coupon(context, code[:40])
    if code and row is None:
        error = "This coupon code is not valid."
        return context.render(
            "cart.html", status=422, cart=load_cart(context), code=code, error=error
        )
    context.run(
        "INSERT INTO checkouts (customer_id, coupon) VALUES (?, ?) "
        "ON CONFLICT (customer_id) DO UPDATE SET coupon = excluded.coupon",
        *(context.user_id, None if row is None else row["code"]),
    )
    context.flash(
        "The coupon was removed." if row is None else f"Coupon {row['code']} was applied."
    )
    return context.redirect("/cart")


def _item(context: RequestContext, item: str) -> sqlite3.Row:
    return context.find(
        "This is not in your cart.",
        "SELECT * FROM cart_items WHERE id = ? AND customer_id = ?",
        *(item, context.user_id),
    )
