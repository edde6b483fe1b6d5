"""Queries for drawing that the shop's templates share, and the rows of a cart."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentgym_envs.sites.people import AGENT_ID
from worlds.tasks.goals import Row, page, row
from worlds.tasks.shopping.steps import SITE
from worlds.tasks.template import World

COST = "coalesce(p.special_price, p.price)"
"""SQL: today's price of a product p, in cents."""

BOUGHT = (
    "SELECT DISTINCT i.name FROM order_items i JOIN orders o ON o.id = i.order_id "
    f"WHERE o.customer_id = {AGENT_ID} ORDER BY i.name"
)
"""SQL: the names of all products that the agent has ordered."""

GROUPS = "SELECT id, name, slug FROM categories WHERE parent_id IS NULL ORDER BY id"
"""SQL: the categories of the first level."""

LEAVES = (
    "SELECT c.id, c.name, g.name AS above FROM categories c JOIN categories g "
    "ON g.id = c.parent_id ORDER BY c.id"
)
"""SQL: the categories below them, which hold the products."""

_ORDERS_WITH = (
    "SELECT DISTINCT o.* FROM orders o JOIN order_items i ON i.order_id = o.id "
    f"WHERE o.customer_id = {AGENT_ID} AND instr(lower(i.name), lower(?)) "
    "ORDER BY o.created_at DESC, o.id DESC"
)


def rows(world: World, sql: str, *values: Any) -> list[sqlite3.Row]:
    """Return all rows of a query on the shop."""
    return world.rows(SITE, sql, *values)


def orders_with(world: World, product: str) -> list[sqlite3.Row]:
    """List the agent's orders that hold a product, the latest first, as the shop's search does."""
    return rows(world, _ORDERS_WITH, product)


def order_page(order: sqlite3.Row) -> str:
    """Return the address of an order of the agent's, behind a reason."""
    return page(SITE, f"/account/orders/{order['number']}")


def in_cart(product: int, quantity: int) -> Row:
    """Name a product of the agent's cart."""
    return row("cart_items", customer_id=AGENT_ID, product_id=product, quantity=quantity)
