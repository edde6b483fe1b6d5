"""Customers: the grid, and the page of one with orders, addresses and group."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.forms import as_options
from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.shopping_admin.site import SITE, AdminFields
from agentgym_envs.sites.web import RequestContext, read_id

GROUPS = ("General", "Wholesale", "Retailer")
SORTING = {
    "name": ("Name", "c.name, c.id"),
    "newest": ("Newest first", "c.created_at DESC, c.id DESC"),
    "oldest": ("Oldest first", "c.created_at, c.id"),
}


@SITE.get("/customers", signed_in=True)
def customers(context: RequestContext) -> Response:
    """List customers."""
    grid = Listing(context, "customers c", SORTING)
    grid.contains("name", "c.name")
    grid.contains("email", "c.email")
    grid.contains("phone", "c.phone")
    grid.equals("group", "c.group_name", GROUPS)
    grid.days("c.created_at")
    rows, pages = grid.rows("c.id, c.name, c.email, c.phone, c.group_name, c.created_at")
    return context.render(
        "customers.html", rows=rows, pages=pages, grid=grid, choices=as_options(GROUPS)
    )


@SITE.get("/customers/{customer_id}", signed_in=True)
def customer(context: RequestContext, customer_id: str) -> Response:
    """Show a customer."""
    return _show(AdminFields(context), _find_customer(context, customer_id))


@SITE.post("/customers/{customer_id}/group", signed_in=True)
def change_group(context: RequestContext, customer_id: str) -> Response:
    """Move a customer into another group."""
    row = _find_customer(context, customer_id)
    fields = AdminFields(context)
    group = fields.chosen("group", GROUPS)
    if fields.errors:
        return _show(fields, row)
    context.update("customers", row["id"], group_name=group)
    context.flash(f"{row['name']} is now in the group {group}.")
    return context.redirect(f"/customers/{row['id']}")


def _find_customer(context: RequestContext, customer_id: str) -> sqlite3.Row:
    sql = "SELECT * FROM customers WHERE id = ?"
    return context.find("There is no such customer.", sql, read_id(customer_id))


def _show(fields: AdminFields, row: sqlite3.Row) -> Response:
    context = fields.context
    listing = Listing(context, "orders", size=8).where("customer_id = ?", row["id"])
    orders, pages = listing.rows(
        "number, created_at, status, total", order="created_at DESC, id DESC"
    )
    return fields.page(
        "customer.html",
        customer=row,
        sums=listing.totals("count(*) AS orders, coalesce(sum(total), 0) AS total"),
        pages=pages,
        orders=orders,
        addresses=context.rows(
            "SELECT * FROM addresses WHERE customer_id = ? ORDER BY is_default DESC, id LIMIT 10",
            row["id"],
        ),
        choices=as_options(GROUPS),
    )
