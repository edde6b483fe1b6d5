"""Moves on the administration's forms, of which tests make other ways to do a task, and damage."""

from __future__ import annotations

from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging.forms import form, pressed
from tests.worlds.tasks.judging.verdicts import Damage

SITE = "shopping_admin"
HOME = "http://shopping-admin.test"
ENABLED = "Enabled in the shop"
PERCENT, FIRST_DAY, LAST_DAY = (
    "Discount in percent",
    "First day (YYYY-MM-DD)",
    "Last day (YYYY-MM-DD)",
)
"""Labels of the forms."""


def first(sql: str) -> str:
    """Return the first value of a query on the untouched shop."""
    return str(WORLD.value(SITE, sql))


def order_url(order_id: object) -> str:
    return f"{HOME}/orders/{first(f'SELECT number FROM orders WHERE id = {order_id}')}"


def product(product_id: object, **fields: str) -> Damage:
    names = {"enabled": ENABLED, "name": "Product name", "special": "Special price", "sku": "SKU"}
    labels = {names.get(name, name.capitalize()): text for name, text in fields.items()}
    return form(f"{HOME}/products/{product_id}", labels, "Save product")


def new_product(**fields: str) -> Damage:
    return product("new", **fields)


def review(review_id: object, **fields: str) -> Damage:
    labels = {name.capitalize(): text for name, text in fields.items()}
    return form(f"{HOME}/reviews/{review_id}", labels, "Save review")


def coupon(coupon_id: object, fields: dict[str, str]) -> Damage:
    return form(f"{HOME}/coupons/{coupon_id}", fields, "Save coupon")


def switch(code: str, *, on: bool) -> Damage:
    return pressed(f"{HOME}/coupons?code={code}", f"{'Activate' if on else 'Deactivate'} {code}")


def page(page_id: object, **fields: str) -> Damage:
    labels = {"title": "Title", "content": "Content", "enabled": ENABLED}
    return form(f"{HOME}/pages/{page_id}", {labels[n]: t for n, t in fields.items()}, "Save page")


def address(url: str, **fields: str) -> Damage:
    labels = {name.capitalize(): text for name, text in fields.items()}
    return form(f"{url}/address", labels, "Save address")


def shipment(url: str, carrier: str, tracking: str) -> Damage:
    return form(f"{url}/ship", {"Tracking number": tracking, "Carrier": carrier}, "Record shipment")
