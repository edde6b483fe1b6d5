"""Shipping, payment and rebates, shared by pages and generated orders."""

from __future__ import annotations

from typing import NamedTuple


class ShippingMethod(NamedTuple):
    """A way of shipping.

    Attributes:
        key: in forms.
        title: on pages and in orders.
        price: in cents.
        time: how long it takes.
    """

    key: str
    title: str
    price: int
    time: str


SHIPPING_METHODS = (
    ShippingMethod("standard", "Standard delivery", 490, "3 to 5 working days"),
    ShippingMethod("express", "Express delivery", 1290, "1 to 2 working days"),
    ShippingMethod("evening", "Evening courier", 1750, "tomorrow between 18:00 and 21:00"),
    ShippingMethod("pickup", "Pick-up point", 250, "3 to 6 working days"),
)
PAYMENT_METHODS = (
    ("card", "Credit card"),
    ("transfer", "Bank transfer"),
    ("cash", "Cash on delivery"),
    ("invoice", "Invoice"),
)
"""Key in forms, title on pages and in orders."""

STATUSES = ("pending", "processing", "complete", "cancelled", "on hold", "refunded")

CARRIERS = ("Valdera Post", "Swiftwing", "Blue Heron Freight")

CANCEL_REASONS = (
    "Ordered by mistake",
    "Found it cheaper elsewhere",
    "Delivery takes too long",
    "Wrong delivery address",
    "No longer needed",
    "Forgot to add something",
)


def coupon_discount(subtotal: int, percent: int) -> int:
    """Return a coupon's rebate in cents, half a cent rounded up."""
    return (subtotal * percent + 50) // 100


def order_number(order_id: int) -> str:
    """Write an order's number as nine digits."""
    return f"{order_id:09}"
