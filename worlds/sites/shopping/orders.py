"""Makes coupons and two years of orders, with their shipments and comments."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from agentgym_envs.sites.shopping.delivery import (
    CANCEL_REASONS,
    CARRIERS,
    PAYMENT_METHODS,
    SHIPPING_METHODS,
    coupon_discount,
    order_number,
)
from worlds.dice import Dice
from worlds.sites.moments import TODAY
from worlds.words import read_words

ORDERS = 1500
ORDERS_OF_AGENT = 64
FAVOURITES = 36
"""Products that the agent's user orders again and again."""
DAYS = 730
FIRST_NUMBER = 1001

_WORDS = read_words("sites/shopping/orders.toml")

COUPONS: tuple[tuple[str, str, int, int, str, str], ...] = _WORDS["coupons"]
"""Code, name, percent, is active, first and last day."""

_PREFIXES = dict(zip(CARRIERS, ("VP", "SW", "BH"), strict=True))
"""Prefixes of each carrier's tracking numbers."""

NOTES = {
    "processing": ("Payment received, thank you.", "Your parcel is being packed."),
    "complete": ("Left with a neighbour as agreed.", "Delivered."),
    "on hold": ("We could not reach you about the delivery date.", "The bank asks to check this."),
    "refunded": ("The full amount was returned.", "Goods came back in good order, refunded."),
    "cancelled": CANCEL_REASONS,
}


def fill_orders(connection: sqlite3.Connection, dice: Dice, scale: int) -> None:
    """Write coupons and orders. The agent's user has more orders than the others."""
    connection.executemany(
        "INSERT INTO coupons (code, name, percent, is_active, starts_on, ends_on) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        COUPONS,
    )
    orders = ORDERS * scale
    maker = _OrderMaker(connection, dice)
    now = TODAY
    moments = sorted(now - timedelta(seconds=int(_age(dice) * 86400)) for _ in range(orders))
    mine = set(dice.sample(range(orders - 40), ORDERS_OF_AGENT - 11))
    mine |= set(dice.sample(range(orders - 40, orders), 11))
    for place, moment in enumerate(moments):
        maker.add(moment, agent=place in mine)
    connection.execute(
        "UPDATE coupons SET times_used = (SELECT count(*) FROM orders WHERE coupon = code)"
    )


def _age(dice: Dice) -> float:
    # Squared: the shop grows, so recent orders are more frequent than old ones.
    return float(DAYS * dice.random() ** 1.35 + 0.02)


def _day_of_coupon(moment: datetime, dice: Dice) -> tuple[str, int] | None:
    day = str(moment.date())
    valid = [(c[0], c[2]) for c in COUPONS if c[4] <= day <= c[5]]
    return dice.pick(valid) if valid and dice.chance(0.14) else None


class _OrderMaker:
    def __init__(self, connection: sqlite3.Connection, dice: Dice) -> None:
        self._connection = connection
        self._dice = dice
        self._products = dice.shuffled(
            connection.execute(
                "SELECT id, name, sku, coalesce(special_price, price) AS price, created_at "
                "FROM products WHERE is_enabled ORDER BY id"
            ).fetchall()
        )
        # A few products sell often, most seldom.
        weights = [1 / (5 + rank) ** 0.7 for rank in range(len(self._products))]
        self._weights = list(itertools.accumulate(weights))
        self._favourites = dice.sample(self._products, FAVOURITES)
        self._addresses: dict[int, list[sqlite3.Row]] = {}
        for row in connection.execute("SELECT * FROM addresses ORDER BY is_default DESC, id"):
            self._addresses.setdefault(row["customer_id"], []).append(row)
        self._customers = sorted(set(self._addresses) - {1})
        self._number = FIRST_NUMBER

    def add(self, moment: datetime, *, agent: bool) -> None:
        """Write one order."""
        dice = self._dice
        customer = 1 if agent else dice.pick(self._customers)
        status = self._status(moment)
        address = dice.pick(self._addresses[customer])
        items = self._items(agent)
        method = dice.by_weight(SHIPPING_METHODS, (6, 3, 1, 2))
        coupon = _day_of_coupon(moment, dice)
        subtotal = sum(row["price"] * quantity for row, quantity in items)
        discount = coupon_discount(subtotal, coupon[1]) if coupon else 0
        order_id = self._connection.execute(
            "INSERT INTO orders (id, number, customer_id, status, created_at, name, street, town, "
            "postcode, phone, shipping_method, shipping, payment_method, coupon, discount, "
            "subtotal, total) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._number, order_number(self._number), customer, status, str(moment),
                address["name"], address["street"], address["town"], address["postcode"],
                address["phone"], method.title, method.price, dice.pick(PAYMENT_METHODS)[1],
                coupon[0] if coupon else None, discount, subtotal,
                subtotal - discount + method.price,
            ),
        ).lastrowid  # fmt: skip
        self._number += 1
        self._connection.executemany(
            "INSERT INTO order_items (order_id, product_id, name, sku, price, quantity) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            [
                (order_id, row["id"], row["name"], row["sku"], row["price"], quantity)
                for row, quantity in items
            ],
        )
        self._follow_up(order_id or 0, status, moment)

    def _items(self, agent: bool) -> list[tuple[sqlite3.Row, int]]:
        dice = self._dice
        number = dice.by_weight((1, 2, 3, 4), (4, 3, 2, 1)) + int(agent)
        chosen: dict[int, sqlite3.Row] = {}
        while len(chosen) < number:
            if agent and dice.chance(0.55):
                row = dice.pick(self._favourites)
            else:
                row = dice.weighted(self._products, self._weights)
            chosen[row["id"]] = row
        return [(row, dice.by_weight((1, 2, 3, 4), (7, 3, 1, 1))) for row in chosen.values()]

    def _status(self, moment: datetime) -> str:
        age = (TODAY - moment).days
        statuses: Sequence[str]
        if age < 9:
            statuses, weights = ("pending", "processing", "cancelled"), (6, 3, 1)
        elif age < 16:
            statuses, weights = ("processing", "complete", "on hold"), (3, 6, 1)
        else:
            statuses, weights = ("complete", "cancelled", "refunded"), (86, 9, 5)
        return self._dice.by_weight(statuses, weights)

    def _follow_up(self, order_id: int, status: str, moment: datetime) -> None:
        dice = self._dice
        if status in ("complete", "refunded"):
            carrier = dice.pick(CARRIERS)
            self._connection.execute(
                "INSERT INTO shipments (order_id, carrier, tracking_number, created_at) "
                "VALUES (?, ?, ?, ?)",
                (
                    order_id, carrier, f"{_PREFIXES[carrier]}{dice.between(10**8, 10**9 - 1)}",
                    str(moment + timedelta(hours=dice.between(20, 89))),
                ),
            )  # fmt: skip
        if status in NOTES and (status == "cancelled" or dice.chance(0.25)):
            self._connection.execute(
                "INSERT INTO order_comments (order_id, text, status, is_customer_notified, "
                "created_at) VALUES (?, ?, ?, ?, ?)",
                (order_id, dice.pick(NOTES[status]), status, int(dice.chance(0.6)),
                 str(min(moment + timedelta(hours=7), TODAY))),
            )  # fmt: skip
