"""Changes orders: which actions are allowed, and what each writes into the database.

An order goes from pending or processing to complete by being shipped; it can be cancelled or put on
hold before that, and refunded afterwards. Every change leaves a line in the order's history.
"""

from __future__ import annotations

import sqlite3

from agentgym_envs.sites.web import RequestContext

_OPEN = ("pending", "processing")
FROM = {
    "hold": _OPEN,
    "release": ("on hold",),
    "cancel": _OPEN,
    "ship": _OPEN,
    "refund": ("complete",),
}
"""The statuses in which an action is possible."""

_DONE = {
    "hold": ("on hold", "The order was put on hold."),
    "cancel": ("cancelled", "The order was cancelled."),
    "refund": ("refunded", "The payment was refunded."),
}


def possible(status: str) -> list[str]:
    """List the actions that an order of this status allows."""
    return [action for action, statuses in FROM.items() if status in statuses]


def note(
    context: RequestContext,
    order_id: int,
    text: str,
    status: str,
    *,
    is_customer_notified: bool = False,
) -> None:
    """Write a line into an order's history."""
    context.run(
        "INSERT INTO order_comments (order_id, text, status, is_customer_notified, created_at) "
        "VALUES (?, ?, ?, ?, ?)",
        order_id,
        text,
        status,
        int(is_customer_notified),
        context.now,
    )


def carry_out(context: RequestContext, order: sqlite3.Row, action: str) -> bool:
    """Hold, release, cancel or refund an order; return whether its status allowed that."""
    if order["status"] not in FROM[action]:
        return False
    if action == "release":
        status, text = (
            _status_before_hold(context, order["id"]),
            "The order was released from hold.",
        )
    else:
        status, text = _DONE[action]
    if action == "cancel":
        context.run(
            "UPDATE products SET stock = stock + (SELECT sum(quantity) FROM order_items i "
            "WHERE i.order_id = ? AND i.product_id = products.id) "
            "WHERE id IN (SELECT product_id FROM order_items WHERE order_id = ?)",
            order["id"],
            order["id"],
        )
    context.run("UPDATE orders SET status = ? WHERE id = ?", status, order["id"])
    note(context, order["id"], text, status)
    return True


def ship(context: RequestContext, order: sqlite3.Row, carrier: str, tracking_number: str) -> None:
    """Record a shipment, which completes the order."""
    context.run(
        "INSERT INTO shipments (order_id, carrier, tracking_number, created_at) "
        "VALUES (?, ?, ?, ?)",
        order["id"],
        carrier,
        tracking_number,
        context.now,
    )
    context.run("UPDATE orders SET status = 'complete' WHERE id = ?", order["id"])
    note(context, order["id"], f"Shipped with {carrier}, {tracking_number}.", "complete")


def _status_before_hold(context: RequestContext, order_id: int) -> str:
    status = context.value(
        "SELECT status FROM order_comments WHERE order_id = ? "
        "AND status IN ('pending', 'processing') ORDER BY id DESC LIMIT 1",
        order_id,
    )
    return str(status or "pending")
