"""The checkout: address, delivery and payment, review, confirmation."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.webarena.sites.shopping.cart import Cart, cart_of
from agentgym_envs.webarena.sites.shopping.delivery import (
    PAYMENT_METHODS,
    SHIPPING_METHODS,
    ShippingMethod,
    order_number,
)
from agentgym_envs.webarena.sites.shopping.fields import Fields
from agentgym_envs.webarena.sites.shopping.site import SITE
from agentgym_envs.webarena.sites.web import NotFound, Visit

_METHODS = {method.key: method for method in SHIPPING_METHODS}
_PAYMENTS = dict(PAYMENT_METHODS)


@SITE.get("/checkout", signed_in=True)
def address_step(visit: Visit) -> Response:
    """Ask where to ship to."""
    return _back_to_cart(visit, cart_of(visit)) or _address_page(visit, Fields(visit), "")


@SITE.post("/checkout/address", signed_in=True)
def choose_address(visit: Visit) -> Response:
    """Take an address of the address book."""
    assert visit.user is not None
    address = visit.value(
        "SELECT id FROM addresses WHERE id = ? AND customer_id = ?",
        *(visit.field("address"), visit.user["id"]),
    )
    if address is None:
        return _address_page(visit, Fields(visit), "Please choose an address.")
    _remember(visit, "address_id", address)
    return visit.redirect("/checkout/delivery")


@SITE.post("/checkout/new-address", signed_in=True)
def new_address(visit: Visit) -> Response:
    """Take a new address; it also goes into the address book."""
    assert visit.user is not None
    fields = Fields(visit)
    address = fields.address()
    if not fields.is_valid:
        return _address_page(visit, fields, "")
    number = visit.run(
        "INSERT INTO addresses (customer_id, name, street, town, postcode, phone) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        *(visit.user["id"], *address.values()),
    )
    _remember(visit, "address_id", number)
    return visit.redirect("/checkout/delivery")


@SITE.get("/checkout/delivery", signed_in=True)
def delivery_step(visit: Visit) -> Response:
    """Ask how to ship and to pay."""
    away = _back_to_cart(visit, cart_of(visit))
    state = _state(visit)
    if away is None and (state is None or state["address_id"] is None):
        away = visit.redirect("/checkout")
    return away or _delivery_page(visit, Fields(visit))


@SITE.post("/checkout/delivery", signed_in=True)
def choose_delivery(visit: Visit) -> Response:
    """Take the ways of shipping and payment."""
    fields = Fields(visit)
    shipping = fields.choice("shipping", list(_METHODS), "Please choose a shipping method.")
    payment = fields.choice("payment", list(_PAYMENTS), "Please choose a payment method.")
    if not fields.is_valid:
        return _delivery_page(visit, fields)
    _remember(visit, "shipping_method", shipping)
    _remember(visit, "payment_method", payment)
    return visit.redirect("/checkout/review")


@SITE.get("/checkout/review", signed_in=True)
def review_step(visit: Visit) -> Response:
    """Show everything once more."""
    cart = cart_of(visit)
    if away := _back_to_cart(visit, cart):
        return away
    choices = _choices(visit)
    if choices is None:
        return visit.redirect("/checkout")
    address, method, payment = choices
    return visit.render(
        "checkout_review.html", cart=cart, address=address, method=method, payment=payment
    )


@SITE.post("/checkout/order", signed_in=True)
def place(visit: Visit) -> Response:
    """Place the order."""
    assert visit.user is not None
    cart = cart_of(visit)
    if away := _back_to_cart(visit, cart):
        return away
    choices = _choices(visit)
    if choices is None:
        return visit.redirect("/checkout")
    number = _store(visit, cart, *choices)
    return visit.redirect(f"/checkout/done/{number}")


@SITE.get("/checkout/done/{number}", signed_in=True)
def done(visit: Visit, number: str) -> Response:
    """Confirm an order."""
    assert visit.user is not None
    order = visit.row(
        "SELECT * FROM orders WHERE number = ? AND customer_id = ?", number, visit.user["id"]
    )
    if order is None:
        raise NotFound("There is no such order.")
    return visit.render("checkout_done.html", order=order)


def _back_to_cart(visit: Visit, cart: Cart) -> Response | None:
    """Send the visitor back if the cart cannot be bought as it is."""
    if not cart.items:
        visit.flash("Your cart is empty.", "notice")
        return visit.redirect("/cart")
    for item in cart.items:
        if item["quantity"] > item["stock"] or not item["is_enabled"]:
            visit.flash(f"{item['name']} is not in stock in this quantity.", "error")
            return visit.redirect("/cart")
    return None


def _state(visit: Visit) -> sqlite3.Row | None:
    assert visit.user is not None
    return visit.row("SELECT * FROM checkouts WHERE customer_id = ?", visit.user["id"])


def _choices(visit: Visit) -> tuple[sqlite3.Row, ShippingMethod, str] | None:
    state = _state(visit)
    if state is None:
        return None
    address = visit.row("SELECT * FROM addresses WHERE id = ?", state["address_id"])
    method = _METHODS.get(state["shipping_method"])
    payment = _PAYMENTS.get(state["payment_method"])
    if address is None or method is None or payment is None:
        return None
    return address, method, payment


def _remember(visit: Visit, column: str, value: int | str) -> None:
    assert visit.user is not None
    visit.run(
        f"INSERT INTO checkouts (customer_id, {column}) VALUES (?, ?) "
        f"ON CONFLICT (customer_id) DO UPDATE SET {column} = excluded.{column}",
        *(visit.user["id"], value),
    )


def _address_page(visit: Visit, fields: Fields, error: str) -> Response:
    assert visit.user is not None
    state = _state(visit)
    return visit.render(
        "checkout_address.html",
        status=200 if fields.is_valid and not error else 422,
        addresses=visit.rows(
            "SELECT * FROM addresses WHERE customer_id = ? ORDER BY is_default DESC, id",
            visit.user["id"],
        ),
        chosen=state["address_id"] if state else None,
        values=fields.values,
        errors=fields.errors,
        error=error,
    )


def _delivery_page(visit: Visit, fields: Fields) -> Response:
    state = _state(visit)
    return visit.render(
        "checkout_delivery.html",
        status=200 if fields.is_valid else 422,
        methods=SHIPPING_METHODS,
        payments=PAYMENT_METHODS,
        shipping=fields.values.get("shipping", state["shipping_method"] if state else ""),
        payment=fields.values.get("payment", state["payment_method"] if state else ""),
        errors=fields.errors,
    )


def _store(
    visit: Visit, cart: Cart, address: sqlite3.Row, method: ShippingMethod, payment: str
) -> str:
    """Write the order, take the goods from stock and empty the cart."""
    assert visit.user is not None
    customer = visit.user["id"]
    order_id = visit.value("SELECT max(id) + 1 FROM orders") or 1
    number = order_number(order_id)
    coupon = None if cart.coupon is None else cart.coupon["code"]
    visit.run(
        "INSERT INTO orders (id, number, customer_id, status, created_at, name, street, town, "
        "postcode, phone, shipping_method, shipping, payment_method, coupon, discount, subtotal, "
        "total) VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(order_id, number, customer, visit.now, address["name"], address["street"]),
        *(address["town"], address["postcode"], address["phone"], method.title, method.price),
        *(payment, coupon, cart.discount, cart.subtotal, cart.total + method.price),
    )
    for item in cart.items:
        visit.run(
            "INSERT INTO order_items (order_id, product_id, name, sku, price, quantity) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            *(order_id, item["product_id"], item["name"], item["sku"], item["cost"]),
            item["quantity"],
        )
        visit.run(
            "UPDATE products SET stock = stock - ? WHERE id = ?",
            *(item["quantity"], item["product_id"]),
        )
    visit.run("UPDATE coupons SET times_used = times_used + 1 WHERE code = ?", coupon)
    visit.run("DELETE FROM cart_items WHERE customer_id = ?", customer)
    visit.run("DELETE FROM checkouts WHERE customer_id = ?", customer)
    return number
