"""Orders: the grid with its mass actions, and the page of one.

An order goes from pending or processing to complete by being shipped; it can be cancelled or put on
hold before that, and refunded afterwards. Every change leaves a line in the order's history.
"""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.core.text import counted
from agentgym_envs.sites.forms import as_options
from agentgym_envs.sites.listing import Listing, order_choices
from agentgym_envs.sites.shopping.delivery import CARRIERS, STATUSES
from agentgym_envs.sites.shopping_admin.site import SITE, AdminFields
from agentgym_envs.sites.web import NotFound, RequestContext

SORTING = {
    "newest": ("Newest first", "o.created_at DESC, o.id DESC"),
    "oldest": ("Oldest first", "o.created_at, o.id"),
    "dearest": ("Total: high to low", "o.total DESC, o.id"),
    "cheapest": ("Total: low to high", "o.total, o.id"),
    "customer": ("Customer", "c.name, o.created_at, o.id"),
}
MASS_ACTIONS = {
    "hold": ("Put on hold", "put on hold"),
    "release": ("Release from hold", "released from hold"),
    "cancel": ("Cancel", "cancelled"),
}
ADDRESS = {
    "name": "Name",
    "street": "Street",
    "town": "Town",
    "postcode": "Postcode",
    "phone": "Phone",
}
"""The fields of a shipping address and their labels."""

_MESSAGES = {
    "hold": "The order is on hold.",
    "release": "The order is no longer on hold.",
    "cancel": "The order has been cancelled.",
    "refund": "The order has been refunded.",
}
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


@SITE.get("/orders", signed_in=True)
def orders(context: RequestContext) -> Response:
    """List orders."""
    grid = Listing(context, "orders o JOIN customers c ON c.id = o.customer_id", SORTING)
    grid.contains("number", "o.number")
    grid.contains("customer", "c.name", "c.email")
    grid.equals("status", "o.status", STATUSES)
    grid.days("o.created_at")
    grid.amounts("o.total")
    rows, pages = grid.rows("o.id, o.number, o.created_at, o.status, o.total, c.name")
    return context.render(
        "orders.html",
        rows=rows,
        pages=pages,
        grid=grid,
        choices=as_options(STATUSES),
        actions=order_choices(MASS_ACTIONS),
    )


@SITE.post("/orders/mass", signed_in=True)
def change_many(context: RequestContext) -> Response:
    """Hold, release or cancel the ticked orders."""
    back = context.way_back("/orders", name="back")
    action = context.field("action")
    numbers = list(dict.fromkeys(context.fields("order")))
    if action not in MASS_ACTIONS:
        context.flash("Choose what to do with the orders.", "error")
    elif not numbers:
        context.flash("Tick at least one order.", "error")
    else:
        orders = [context.row("SELECT * FROM orders WHERE number = ?", n) for n in numbers]
        done = sum(order is not None and _carry_out(context, order, action) for order in orders)
        if done:
            context.flash(f"{counted(done, 'order')} {MASS_ACTIONS[action][1]}.")
        if done < len(orders):
            context.flash(f"{counted(len(orders) - done, 'order')} could not be changed.", "error")
    return context.redirect(back)


def find_order(context: RequestContext, number: str) -> sqlite3.Row:
    """Return an order with its customer's name and address.

    Raises:
        NotFound: there is none of this number.
    """
    return context.find(
        "There is no order of this number.",
        "SELECT o.*, c.name AS customer, c.email, c.group_name FROM orders o "
        "JOIN customers c ON c.id = o.customer_id WHERE o.number = ?",
        number,
    )


@SITE.get("/orders/{number}", signed_in=True)
def order(context: RequestContext, number: str) -> Response:
    """Show an order."""
    return _show(AdminFields(context), find_order(context, number))


@SITE.post("/orders/{number}/comments", signed_in=True)
def comment(context: RequestContext, number: str) -> Response:
    """Add a comment to the history."""
    row = find_order(context, number)
    fields = AdminFields(context)
    text = fields.text("comment", "Comment", most=500)
    if fields.errors:
        return _show(fields, row)
    is_notified = fields.is_ticked("notify")
    _note(context, row["id"], text, row["status"], is_customer_notified=is_notified)
    context.flash(
        f"The comment was saved and sent to {row['email']}."
        if is_notified
        else "The comment was saved."
    )
    return context.redirect(f"/orders/{number}")


@SITE.get("/orders/{number}/ship", signed_in=True)
def shipment(context: RequestContext, number: str) -> Response:
    """Show the form for a shipment."""
    row = find_order(context, number)
    if row["status"] not in FROM["ship"]:
        context.flash(f"An order that is {row['status']} cannot be shipped.", "error")
        return context.redirect(f"/orders/{number}")
    return _shipment_form(AdminFields(context), row)


@SITE.post("/orders/{number}/ship", signed_in=True)
def record_shipment(context: RequestContext, number: str) -> Response:
    """Record a shipment."""
    row = find_order(context, number)
    if row["status"] not in FROM["ship"]:
        return shipment(context, number)
    fields = AdminFields(context)
    carrier = fields.chosen("carrier", CARRIERS)
    tracking_number = fields.matching(
        "tracking_number",
        "Tracking number",
        r"[A-Za-z0-9-]{6,30}",
        "A tracking number has 6 to 30 letters, digits and hyphens.",
    )
    if fields.errors:
        return _shipment_form(fields, row)
    context.insert(
        "shipments",
        order_id=row["id"],
        carrier=carrier,
        tracking_number=tracking_number,
        created_at=context.now,
    )
    context.update("orders", row["id"], status="complete")
    _note(context, row["id"], f"Shipped with {carrier}, {tracking_number}.", "complete")
    context.flash("The shipment was recorded; the order is complete.")
    return context.redirect(f"/orders/{number}")


def _shipment_form(fields: AdminFields, row: sqlite3.Row) -> Response:
    return fields.page("ship.html", order=row, carriers=as_options(CARRIERS))


@SITE.get("/orders/{number}/address", signed_in=True)
def address(context: RequestContext, number: str) -> Response:
    """Show the form for the shipping address."""
    row = find_order(context, number)
    return AdminFields(context, row).page("order_address.html", order=row, fields=ADDRESS)


@SITE.post("/orders/{number}/address", signed_in=True)
def change_address(context: RequestContext, number: str) -> Response:
    """Change the shipping address of this order, and of no other."""
    row = find_order(context, number)
    fields = AdminFields(context)
    for name in ("name", "street", "town"):
        fields.text(name, ADDRESS[name], most=80)
    fields.matching("postcode", "Postcode", r"[0-9]{5}", "A postcode has five digits.")
    wrong_phone = "Phone must be a number such as 0555 310 4416."
    fields.matching("phone", "Phone", r"[0-9+() -]{5,30}", wrong_phone)
    if fields.errors:
        return fields.page("order_address.html", order=row, fields=ADDRESS)
    context.update("orders", row["id"], **fields.values)
    context.flash("The shipping address was saved.")
    return context.redirect(f"/orders/{number}")


@SITE.post("/orders/{number}/{action}", signed_in=True)
def act(context: RequestContext, number: str, action: str) -> Response:
    """Hold, release, cancel or refund an order.

    Raises:
        NotFound: there is no such action.
    """
    row = find_order(context, number)
    if action not in _MESSAGES:
        raise NotFound()
    if _carry_out(context, row, action):
        context.flash(_MESSAGES[action])
    else:
        context.flash(f"This cannot be done to an order that is {row['status']}.", "error")
    return context.redirect(f"/orders/{number}")


def _show(fields: AdminFields, row: sqlite3.Row) -> Response:
    context = fields.context
    order_id = row["id"]
    return fields.page(
        "order.html",
        order=row,
        items=context.rows("SELECT * FROM order_items WHERE order_id = ? ORDER BY id", order_id),
        history=context.rows(
            "SELECT * FROM order_comments WHERE order_id = ? ORDER BY id DESC LIMIT 12", order_id
        ),
        shipments=context.rows("SELECT * FROM shipments WHERE order_id = ? ORDER BY id", order_id),
        actions=[action for action, statuses in FROM.items() if row["status"] in statuses],
        is_notified=bool(context.field("notify")),
    )


def _note(
    context: RequestContext,
    order_id: int,
    text: str,
    status: str,
    *,
    is_customer_notified: bool = False,
) -> None:
    """Write a line into an order's history."""
    context.insert(
        "order_comments",
        order_id=order_id,
        text=text,
        status=status,
        is_customer_notified=int(is_customer_notified),
        created_at=context.now,
    )


def _carry_out(context: RequestContext, order: sqlite3.Row, action: str) -> bool:
    """Hold, release, cancel or refund an order. Return whether its status allowed it."""
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
    context.update("orders", order["id"], status=status)
    _note(context, order["id"], text, status)
    return True


def _status_before_hold(context: RequestContext, order_id: int) -> str:
    status = context.value(
        "SELECT status FROM order_comments WHERE order_id = ? "
        "AND status IN ('pending', 'processing') ORDER BY id DESC LIMIT 1",
        order_id,
    )
    return str(status or "pending")
