"""What the shop's templates share: queries for drawing, and states that they expect."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.tasks.template import World, state_of

AGENT_ID = 1
COST = "coalesce(p.special_price, p.price)"
"""SQL: what a product p costs today, in cents."""

BOUGHT = (
    "SELECT DISTINCT i.name FROM order_items i JOIN orders o ON o.id = i.order_id "
    f"WHERE o.customer_id = {AGENT_ID} ORDER BY i.name"
)
"""SQL: the names of all products that the agent has ordered."""

_ORDERS_WITH = (
    "SELECT DISTINCT o.* FROM orders o JOIN order_items i ON i.order_id = o.id "
    f"WHERE o.customer_id = {AGENT_ID} AND instr(lower(i.name), lower(?)) "
    "ORDER BY o.created_at DESC, o.id DESC"
)


def rows(world: World, sql: str, *values: Any) -> list[sqlite3.Row]:
    """Return all rows of a query on the shop."""
    return world.rows(SITE, sql, *values)


def quoted(text: str) -> str:
    """Write a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def orders_with(world: World, product: str) -> list[sqlite3.Row]:
    """List the agent's orders that hold a product, the latest first, as the shop's search does."""
    return rows(world, _ORDERS_WITH, product)


def unchanged(world: World, query: str) -> dict[str, Any]:
    """Expect a query to answer as it does before the task."""
    return state_of(SITE, query, [list(row) for row in rows(world, query)])


def same_number_of(world: World, *tables: str) -> dict[str, Any]:
    """Expect as many rows in each table as before the task."""
    return unchanged(world, "SELECT " + ", ".join(f"(SELECT count(*) FROM {t})" for t in tables))


def cart_is(*items: tuple[int, int]) -> dict[str, Any]:
    """Expect the agent's cart to hold exactly these (product id, quantity)."""
    query = (
        f"SELECT product_id, quantity FROM cart_items WHERE customer_id = {AGENT_ID} "
        "ORDER BY product_id"
    )
    return state_of(SITE, query, [list(item) for item in sorted(items)])
