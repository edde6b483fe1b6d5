"""A customer's orders: the list, one order, ordering again, cancelling."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.webarena.sites.paging import Pages
from agentgym_envs.webarena.sites.shopping.cart import put_in_cart
from agentgym_envs.webarena.sites.shopping.delivery import CANCEL_REASONS, STATUSES
from agentgym_envs.webarena.sites.shopping.site import SITE
from agentgym_envs.webarena.sites.web import NotFound, Visit

PER_PAGE = 10
STATUS_OPTIONS = [("", "All statuses"), *((status, status.capitalize()) for status in STATUSES)]


@SITE.get("/account/orders", signed_in=True)
def orders(visit: Visit) -> Response:
    """List the orders, the latest first, by status and by a product's name."""
    assert visit.user is not None
    status, product = visit.field("status"), visit.field("product")
    condition = (
        "customer_id = ? AND (? = '' OR status = ?) AND (? = '' OR EXISTS (SELECT 1 FROM "
        "order_items i WHERE i.order_id = o.id AND instr(lower(i.name), ?)))"
    )
    values = (visit.user["id"], status, status, product, product.lower())
    total = visit.value(f"SELECT count(*) FROM orders o WHERE {condition}", *values)
    pages = Pages.of(visit, total, PER_PAGE)
    return visit.render(
        "orders.html",
        pages=pages,
        statuses=STATUS_OPTIONS,
        orders=visit.rows(
            f"SELECT * FROM orders o WHERE {condition} ORDER BY created_at DESC, id DESC "
            "LIMIT ? OFFSET ?",
            *(*values, pages.size, pages.offset),
        ),
    )


@SITE.get("/account/orders/{number}", signed_in=True)
def order(visit: Visit, number: str) -> Response:
    """Show one order."""
    return _page(visit, _order(visit, number), error="")


@SITE.post("/account/orders/{number}/reorder", signed_in=True)
def reorder(visit: Visit, number: str) -> Response:
    """Put an order's products into the cart again, as far as they can be had."""
    row = _order(visit, number)
    problems = []
    for item in _items(visit, row["id"]):
        if item["product_id"] is None:
            problems.append(f"{item['name']} is no longer sold.")
        elif problem := put_in_cart(visit, item["product_id"], item["quantity"]):
            problems.append(problem)
    if problems:
        visit.flash(" ".join(problems), "error")
    else:
        visit.flash(f"The products of order {number} are in your cart.")
    return visit.redirect("/cart")


@SITE.post("/account/orders/{number}/cancel", signed_in=True)
def cancel(visit: Visit, number: str) -> Response:
    """Cancel an order that is still pending; its goods go back into stock."""
    row = _order(visit, number)
    if row["status"] != "pending":
        visit.flash("Only a pending order can be cancelled.", "error")
        return visit.redirect(f"/account/orders/{number}")
    reason = visit.field("reason")
    if reason not in CANCEL_REASONS:
        return _page(visit, row, error="Please choose a reason.")
    visit.run("UPDATE orders SET status = 'cancelled' WHERE id = ?", row["id"])
    visit.run(
        "UPDATE products SET stock = stock + i.quantity FROM order_items i "
        "WHERE i.order_id = ? AND i.product_id = products.id",
        row["id"],
    )
    visit.run(
        "INSERT INTO order_comments (order_id, text, status, is_customer_notified, created_at) "
        "VALUES (?, ?, 'cancelled', 1, ?)",
        *(row["id"], reason, visit.now),
    )
    visit.flash(f"Order {number} was cancelled.")
    return visit.redirect(f"/account/orders/{number}")


def _order(visit: Visit, number: str) -> sqlite3.Row:
    assert visit.user is not None
    row = visit.row(
        "SELECT * FROM orders WHERE number = ? AND customer_id = ?", number, visit.user["id"]
    )
    if row is None:
        raise NotFound("There is no such order among yours.")
    return row


def _items(visit: Visit, order_id: int) -> list[sqlite3.Row]:
    return visit.rows(
        "SELECT i.*, p.slug, p.is_enabled FROM order_items i "
        "LEFT JOIN products p ON p.id = i.product_id WHERE i.order_id = ? ORDER BY i.id",
        order_id,
    )


def _page(visit: Visit, row: sqlite3.Row, *, error: str) -> Response:
    return visit.render(
        "order.html",
        status=422 if error else 200,
        order=row,
        items=_items(visit, row["id"]),
        shipments=visit.rows("SELECT * FROM shipments WHERE order_id = ? ORDER BY id", row["id"]),
        comments=visit.rows(
            "SELECT * FROM order_comments WHERE order_id = ? AND is_customer_notified ORDER BY id",
            row["id"],
        ),
        reasons=[("", "Please choose"), *((reason, reason) for reason in CANCEL_REASONS)],
        error=error,
    )
