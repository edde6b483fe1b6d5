"""A customer's orders: the list, one order, ordering again, cancelling."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.forms import as_options
from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.shopping.cart import put_in_cart
from agentgym_envs.sites.shopping.delivery import CANCEL_REASONS, STATUSES
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext

PER_PAGE = 10
STATUS_OPTIONS = [("", "All statuses"), *((status, status.capitalize()) for status in STATUSES)]


@SITE.get("/account/orders", signed_in=True)
def orders(context: RequestContext) -> Response:
    """List the orders, the latest first, by status and by a product's name."""
    status, product = context.field("status"), context.field("product")
    listing = Listing(context, "orders o", size=PER_PAGE)
    listing.where("customer_id = ?", context.user_id)
    if status:
        listing.where("status = ?", status)
    if product:
        listing.where(
            "EXISTS (SELECT 1 FROM order_items i WHERE i.order_id = o.id "
            "AND instr(lower(i.name), ?))",
            product.lower(),
        )
    rows, pages = listing.rows("*", order="created_at DESC, id DESC")
    return context.render("orders.html", pages=pages, statuses=STATUS_OPTIONS, orders=rows)


@SITE.get("/account/orders/{number}", signed_in=True)
def order(context: RequestContext, number: str) -> Response:
    """Show one order."""
    return _page(context, _order(context, number), error="")


@SITE.post("/account/orders/{number}/reorder", signed_in=True)
def reorder(context: RequestContext, number: str) -> Response:
    """Put an order's products into the cart again, as far as they can be had."""
    row = _order(context, number)
    problems = []
    for item in _items(context, row["id"]):
        if item["product_id"] is None:
            problems.append(f"{item['name']} is no longer sold.")
        elif problem := put_in_cart(context, item["product_id"], item["quantity"]):
            problems.append(problem)
    if problems:
        context.flash(" ".join(problems), "error")
    else:
        context.flash(f"The products of order {number} are in your cart.")
    return context.redirect("/cart")


@SITE.post("/account/orders/{number}/cancel", signed_in=True)
def cancel(context: RequestContext, number: str) -> Response:
    """Cancel a pending order. Its goods return to stock."""
    row = _order(context, number)
    if row["status"] != "pending":
        context.flash("Only a pending order can be cancelled.", "error")
        return context.redirect(f"/account/orders/{number}")
    reason = context.field("reason")
    if reason not in CANCEL_REASONS:
        return _page(context, row, error="Please choose a reason.")
    context.update("orders", row["id"], status="cancelled")
    context.run(
        "UPDATE products SET stock = stock + i.quantity FROM order_items i "
        "WHERE i.order_id = ? AND i.product_id = products.id",
        row["id"],
    )
    context.insert(
        "order_comments",
        order_id=row["id"],
        text=reason,
        status="cancelled",
        is_customer_notified=1,
        created_at=context.now,
    )
    context.flash(f"Order {number} was cancelled.")
    return context.redirect(f"/account/orders/{number}")


def _order(context: RequestContext, number: str) -> sqlite3.Row:
    return context.find(
        "There is no such order among yours.",
        "SELECT * FROM orders WHERE number = ? AND customer_id = ?",
        *(number, context.user_id),
    )


def _items(context: RequestContext, order_id: int) -> list[sqlite3.Row]:
    return context.rows(
        "SELECT i.*, p.slug, p.is_enabled FROM order_items i "
        "LEFT JOIN products p ON p.id = i.product_id WHERE i.order_id = ? ORDER BY i.id",
        order_id,
    )


def _page(context: RequestContext, row: sqlite3.Row, *, error: str) -> Response:
    return context.render(
        "order.html",
        status=422 if error else 200,
        order=row,
        items=_items(context, row["id"]),
        shipments=context.rows("SELECT * FROM shipments WHERE order_id = ? ORDER BY id", row["id"]),
        comments=context.rows(
            "SELECT * FROM order_comments WHERE order_id = ? AND is_customer_notified ORDER BY id",
            row["id"],
        ),
        reasons=as_options(CANCEL_REASONS, "Please choose"),
        error=error,
    )
