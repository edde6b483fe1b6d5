"""Fills the shop's database, which its administration uses too."""

from __future__ import annotations

import sqlite3

from worlds.dice import Dice
from worlds.sites.setting import Setting
from worlds.sites.shopping.customers import fill_customers
from worlds.sites.shopping.orders import fill_orders
from worlds.sites.shopping.pages import fill_pages
from worlds.sites.shopping.products import fill_products
from worlds.sites.shopping.reviews import fill_reviews

WISHES_OF_AGENT = 24
WISHERS = 90
WISH_COMMENTS = ("", "", "", "for the new flat", "birthday?", "wait for a sale", "ask Otto first")


def fill(connection: sqlite3.Connection, setting: Setting) -> None:
    """Fill the empty tables."""
    # Dice for each subject: what is added to one leaves the others as they were.
    leaf_of = fill_products(connection, setting.dice("shopping", "products"), setting.scale)
    fill_customers(connection, setting.dice("shopping", "customers"), setting.people)
    fill_orders(connection, setting.dice("shopping", "orders"), setting.scale)
    fill_reviews(connection, setting, leaf_of)
    fill_pages(connection, setting.dice("shopping", "pages"), setting.people)
    _fill_wishlists(connection, setting.dice("shopping", "wishlists"), setting.scale)


def _fill_wishlists(connection: sqlite3.Connection, dice: Dice, scale: int) -> None:
    products = [row["id"] for row in connection.execute("SELECT id FROM products WHERE is_enabled")]
    customers = [row["id"] for row in connection.execute("SELECT id FROM customers WHERE id > 1")]
    rows = [(1, product, "") for product in sorted(dice.sample(products, WISHES_OF_AGENT))]
    for customer in sorted(dice.sample(customers, WISHERS * scale)):
        wishes = dice.sample(products, dice.between(1, 4))
        rows += [(customer, product, dice.pick(WISH_COMMENTS)) for product in wishes]
    connection.executemany(
        "INSERT INTO wishlist_items (customer_id, product_id, comment) VALUES (?, ?, ?)", rows
    )
