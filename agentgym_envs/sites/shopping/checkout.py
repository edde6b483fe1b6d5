"""The checkout: address, delivery and payment, review, confirmation."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.shopping.cart import Cart, load_cart
from agentgym_envs.sites.shopping.delivery import (
    PAYMENT_METHODS,
    SHIPPING_METHODS,
    ShippingMethod,
    order_number,
)
from agentgym_envs.sites.shopping.fields import ShopFields
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext

_METHODS = {method.key: method for method in SHIPPING_METHODS}
_PAYMENTS = dict(PAYMENT_METHODS)


@SITE.get("/checkout", signed_in=True)
def address_step(context: RequestContext) -> Response:
    """Ask where to ship to."""
    return _back_to_cart(context, load_cart(context)) or _address_page(ShopFields(context))


@SITE.post("/checkout/address", signed_in=True)
def choose_address(context: RequestContext) -> Response:
    """Take an address of the address book."""
    address = context.value(
        "SELECT id FROM addresses WHERE id = ? AND customer_id = ?",
        *(context.field("address"), context.user_id),
    )
    if address is None:
        fields = ShopFields(context)
        fields.errors["address"] = "Please choose an address."
        return _address_page(fields)
    _remember(context, "address_id", address)
    return context.redirect("/checkout/delivery")


@SITE.post("/checkout/new-address", signed_in=True)
def new_address(context: RequestContext) -> Response:
    """Use a new address and add it to the address book."""
    fields = ShopFields(context)
    address = fields.address()
    if fields.errors:
        return _address_page(fields)
    number = context.insert("addresses", customer_id=context.user_id, **address)
    _remember(context, "address_id", number)
    return context.redirect("/checkout/delivery")


@SITE.get("/checkout/delivery", signed_in=True)
def delivery_step(context: RequestContext) -> Response:
    """Ask how to ship and to pay."""
    away = _back_to_cart(context, load_cart(context))
    state = _state(context)
    if away is None and (state is None or state["address_id"] is None):
        away = context.redirect("/checkout")
    return away or _delivery_page(ShopFields(context))


@SITE.post("/checkout/delivery", signed_in=True)
def choose_delivery(context: RequestContext) -> Response:
    """Take the ways of shipping and payment."""
    fields = ShopFields(context)
    shipping = fields.choice("shipping", list(_METHODS), "Please choose a shipping method.")
    payment = fields.choice("payment", list(_PAYMENTS), "Please choose a payment method.")
    if fields.errors:
        return _delivery_page(fields)
    _remember(context, "shipping_method", shipping)
    _remember(context, "payment_method", payment)
    return context.redirect("/checkout/review")


@SITE.get("/checkout/review", signed_in=True)
def review_step(context: RequestContext) -> Response:
    """Show everything once more."""
    cart = load_cart(context)
    if away := _back_to_cart(context, cart):
        return away
    choices = _choices(context)
    if choices is None:
        return context.redirect("/checkout")
    address, method, payment = choices
    return context.render(
        "checkout_review.html", cart=cart, address=address, method=method, payment=payment
    )


@SITE.post("/checkout/order", signed_in=True)
def place(context: RequestContext) -> Response:
    """Place the order."""
    cart = load_cart(context)
    if away := _back_to_cart(context, cart):
        return away
    choices = _choices(context)
    if choices is None:
        return context.redirect("/checkout")
    number = _store(context, cart, *choices)
    return context.redirect(f"/checkout/done/{number}")


@SITE.get("/checkout/done/{number}", signed_in=True)
def done(context: RequestContext, number: str) -> Response:
    """Confirm an order."""
    order = context.find(
        "There is no such order.",
        "SELECT * FROM orders WHERE number = ? AND customer_id = ?",
        *(number, context.user_id),
    )
    return context.render("checkout_done.html", order=order)


def _back_to_cart(context: RequestContext, cart: Cart) -> Response | None:
    """Send the visitor back if the cart cannot be bought as it is."""
    if not cart.items:
        context.flash("Your cart is empty.", "notice")
        return context.redirect("/cart")
    for item in cart.items:
        if item["quantity"] > item["stock"] or not item["is_enabled"]:
            context.flash(f"{item['name']} is not in stock in this quantity.", "error")
            return context.redirect("/cart")
    return None


def _state(context: RequestContext) -> sqlite3.Row | None:
    return context.row("SELECT * FROM checkouts WHERE customer_id = ?", context.user_id)


def _choices(context: RequestContext) -> tuple[sqlite3.Row, ShippingMethod, str] | None:
    state = _state(context)
    if state is None:
        return None
    address = context.row("SELECT * FROM addresses WHERE id = ?", state["address_id"])
    method = _METHODS.get(state["shipping_method"])
    payment = _PAYMENTS.get(state["payment_method"])
    if address is None or method is None or payment is None:
        return None
    return address, method, payment


def _remember(context: RequestContext, column: str, value: int | str) -> None:
    context.run(
        f"INSERT INTO checkouts (customer_id, {column}) VALUES (?, ?) "
        f"ON CONFLICT (customer_id) DO UPDATE SET {column} = excluded.{column}",
        *(context.user_id, value),
    )


def _address_page(fields: ShopFields) -> Response:
    state = _state(fields.context)
    return fields.page(
        "checkout_address.html",
        addresses=fields.context.rows(
            "SELECT * FROM addresses WHERE customer_id = ? ORDER BY is_default DESC, id",
            fields.context.user_id,
        ),
        chosen=state["address_id"] if state else None,
    )


def _delivery_page(fields: ShopFields) -> Response:
    state = _state(fields.context)
    return fields.page(
        "checkout_delivery.html",
        methods=SHIPPING_METHODS,
        payments=PAYMENT_METHODS,
        shipping=fields.values.get("shipping", state["shipping_method"] if state else ""),
        payment=fields.values.get("payment", state["payment_method"] if state else ""),
    )


def _store(
    context: RequestContext, cart: Cart, address: sqlite3.Row, method: ShippingMethod, payment: str
) -> str:
    """Write the order, take the goods from stock and empty the cart."""
    order_id = context.value("SELECT max(id) + 1 FROM orders") or 1
    number = order_number(order_id)
    coupon = None if cart.coupon is None else cart.coupon["code"]
    context.insert(
        "orders",
        **{line: address[line] for line in ("name", "street", "town", "postcode", "phone")},
        id=order_id,
        number=number,
        customer_id=context.user_id,
        status="pending",
        created_at=context.now,
        shipping_method=method.title,
        shipping=method.price,
        payment_method=payment,
        coupon=coupon,
        discount=cart.discount,
        subtotal=cart.subtotal,
        total=cart.total + method.price,
    )
    for item in cart.items:
        context.insert(
            "order_items",
            **{column: item[column] for column in ("product_id", "name", "sku", "quantity")},
            order_id=order_id,
            price=item["cost"],
        )
        context.run(
            "UPDATE products SET stock = stock - ? WHERE id = ?",
            *(item["quantity"], item["product_id"]),
        )
    context.run("UPDATE coupons SET times_used = times_used + 1 WHERE code = ?", coupon)
    context.run("DELETE FROM cart_items WHERE customer_id = ?", context.user_id)
    context.run("DELETE FROM checkouts WHERE customer_id = ?", context.user_id)
    return number
