"""The page of one order: its items, its history, and what can be done to it."""

from __future__ import annotations

import re
import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.shopping.delivery import CARRIERS
from agentgym_envs.sites.shopping_admin.entries import Entries
from agentgym_envs.sites.shopping_admin.grids import choices_of
from agentgym_envs.sites.shopping_admin.order_rules import (
    FROM,
    carry_out,
    note,
    possible,
    ship,
)
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

ADDRESS = {
    "name": "Name",
    "street": "Street",
    "town": "Town",
    "postcode": "Postcode",
    "phone": "Phone",
}
"""The fields of a shipping address and their labels."""

_TRACKING = re.compile(r"[A-Za-z0-9-]{6,30}")
_MESSAGES = {
    "hold": "The order is on hold.",
    "release": "The order is no longer on hold.",
    "cancel": "The order has been cancelled.",
    "refund": "The order has been refunded.",
}


def order_of(context: RequestContext, number: str) -> sqlite3.Row:
    """Return an order with its customer's name and address.

    Raises:
        NotFound: there is none of this number.
    """
    row = context.row(
        "SELECT o.*, c.name AS customer, c.email, c.group_name FROM orders o "
        "JOIN customers c ON c.id = o.customer_id WHERE o.number = ?",
        number,
    )
    if row is None:
        raise NotFound("There is no order of this number.")
    return row


@SITE.get("/orders/{number}", signed_in=True)
def order(context: RequestContext, number: str) -> Response:
    """Show an order."""
    return _show(context, order_of(context, number), comment="", errors={})


@SITE.post("/orders/{number}/comments", signed_in=True)
def comment(context: RequestContext, number: str) -> Response:
    """Add a comment to the history."""
    row = order_of(context, number)
    entries = Entries(context)
    text = entries.text("comment", "Comment", longest=500)
    if entries.errors:
        return _show(context, row, comment=text, errors=entries.errors)
    is_notified = entries.is_ticked("notify")
    note(context, row["id"], text, row["status"], is_customer_notified=is_notified)
    context.flash(
        f"The comment was saved and sent to {row['email']}."
        if is_notified
        else "The comment was saved."
    )
    return context.redirect(f"/orders/{number}")


@SITE.get("/orders/{number}/ship", signed_in=True)
def shipment(context: RequestContext, number: str) -> Response:
    """Show the form for a shipment."""
    row = order_of(context, number)
    if row["status"] not in FROM["ship"]:
        context.flash(f"An order that is {row['status']} cannot be shipped.", "error")
        return context.redirect(f"/orders/{number}")
    values = {"carrier": "", "tracking_number": ""}
    return context.render(
        "ship.html", order=row, values=values, carriers=choices_of(CARRIERS), errors={}
    )


@SITE.post("/orders/{number}/ship", signed_in=True)
def record_shipment(context: RequestContext, number: str) -> Response:
    """Record a shipment."""
    row = order_of(context, number)
    if row["status"] not in FROM["ship"]:
        return shipment(context, number)
    entries = Entries(context)
    values = {
        "carrier": entries.one_of("carrier", "the carrier", CARRIERS),
        "tracking_number": entries.text("tracking_number", "Tracking number"),
    }
    if values["tracking_number"] and not _TRACKING.fullmatch(values["tracking_number"]):
        entries.errors["tracking_number"] = (
            "A tracking number has 6 to 30 letters, digits and hyphens."
        )
    if entries.errors:
        return context.render(
            "ship.html",
            order=row,
            values=values,
            carriers=choices_of(CARRIERS),
            errors=entries.errors,
        )
    ship(context, row, values["carrier"], values["tracking_number"])
    context.flash("The shipment was recorded; the order is complete.")
    return context.redirect(f"/orders/{number}")


@SITE.get("/orders/{number}/address", signed_in=True)
def address(context: RequestContext, number: str) -> Response:
    """Show the form for the shipping address."""
    row = order_of(context, number)
    values = {name: row[name] for name in ADDRESS}
    return context.render("order_address.html", order=row, values=values, fields=ADDRESS, errors={})


@SITE.post("/orders/{number}/address", signed_in=True)
def change_address(context: RequestContext, number: str) -> Response:
    """Change the shipping address of this order, and of no other."""
    row = order_of(context, number)
    entries = Entries(context)
    values = {name: entries.text(name, label, longest=80) for name, label in ADDRESS.items()}
    if values["postcode"] and not re.fullmatch(r"[0-9]{5}", values["postcode"]):
        entries.errors["postcode"] = "A postcode has five digits."
    if values["phone"] and not re.fullmatch(r"[0-9+() -]{5,30}", values["phone"]):
        entries.errors["phone"] = "Phone must be a number such as 0555 310 4416."
    if entries.errors:
        return context.render(
            "order_address.html",
            order=row,
            values=values,
            fields=ADDRESS,
            errors=entries.errors,
        )
    changes = ", ".join(f"{name} = ?" for name in ADDRESS)
    context.run(f"UPDATE orders SET {changes} WHERE id = ?", *values.values(), row["id"])
    context.flash("The shipping address was saved.")
    return context.redirect(f"/orders/{number}")


@SITE.post("/orders/{number}/{action}", signed_in=True)
def act(context: RequestContext, number: str, action: str) -> Response:
    """Hold, release, cancel or refund an order."""
    row = order_of(context, number)
    if action not in _MESSAGES:
        raise NotFound()
    if carry_out(context, row, action):
        context.flash(_MESSAGES[action])
    else:
        context.flash(f"This cannot be done to an order that is {row['status']}.", "error")
    return context.redirect(f"/orders/{number}")


def _show(
    context: RequestContext, row: sqlite3.Row, *, comment: str, errors: dict[str, str]
) -> Response:
    order_id = row["id"]
    return context.render(
        "order.html",
        order=row,
        items=context.rows("SELECT * FROM order_items WHERE order_id = ? ORDER BY id", order_id),
        history=context.rows(
            "SELECT * FROM order_comments WHERE order_id = ? ORDER BY id DESC LIMIT 12", order_id
        ),
        shipments=context.rows("SELECT * FROM shipments WHERE order_id = ? ORDER BY id", order_id),
        actions=possible(row["status"]),
        comment=comment,
        is_notified=bool(context.field("notify")),
        errors=errors,
    )
