"""Customers: the grid, and the page of one with orders, addresses and group."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.shopping_admin.entries import Entries, read_id
from agentgym_envs.sites.shopping_admin.grids import Grid, choices_of
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

GROUPS = ("General", "Wholesale", "Retailer")
SORTING = {
    "name": ("Name", "c.name, c.id"),
    "newest": ("Newest first", "c.created_at DESC, c.id DESC"),
    "oldest": ("Oldest first", "c.created_at, c.id"),
}


@SITE.get("/customers", signed_in=True)
def customers(context: RequestContext) -> Response:
    """List customers."""
    grid = Grid(context, "customers c", SORTING)
    grid.contains("name", "c.name")
    grid.contains("email", "c.email")
    grid.contains("phone", "c.phone")
    grid.equals("group", "c.group_name", GROUPS)
    grid.days("c.created_at")
    rows, pages = grid.rows("c.id, c.name, c.email, c.phone, c.group_name, c.created_at")
    return context.render(
        "customers.html", rows=rows, pages=pages, grid=grid, choices=choices_of(GROUPS)
    )


@SITE.get("/customers/{customer_id}", signed_in=True)
def customer(context: RequestContext, customer_id: str) -> Response:
    """Show a customer."""
    return _show(context, _customer_of(context, customer_id), {})


@SITE.post("/customers/{customer_id}/group", signed_in=True)
def change_group(context: RequestContext, customer_id: str) -> Response:
    """Move a customer into another group."""
    row = _customer_of(context, customer_id)
    entries = Entries(context)
    group = entries.one_of("group", "the group", GROUPS)
    if entries.errors:
        return _show(context, row, entries.errors)
    context.run("UPDATE customers SET group_name = ? WHERE id = ?", group, row["id"])
    context.flash(f"{row['name']} is now in the group {group}.")
    return context.redirect(f"/customers/{row['id']}")


def _customer_of(context: RequestContext, customer_id: str) -> sqlite3.Row:
    row = context.row("SELECT * FROM customers WHERE id = ?", read_id(customer_id))
    if row is None:
        raise NotFound("There is no such customer.")
    return row


def _show(context: RequestContext, row: sqlite3.Row, errors: dict[str, str]) -> Response:
    sums = context.row(
        "SELECT count(*) AS orders, coalesce(sum(total), 0) AS total FROM orders "
        "WHERE customer_id = ?",
        row["id"],
    )
    assert sums is not None  # an aggregate always gives a row
    pages = Pages.of(context, sums["orders"], 8)
    return context.render(
        "customer.html",
        customer=row,
        sums=sums,
        pages=pages,
        orders=context.rows(
            "SELECT number, created_at, status, total FROM orders WHERE customer_id = ? "
            "ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
            row["id"],
            pages.size,
            pages.offset,
        ),
        addresses=context.rows(
            "SELECT * FROM addresses WHERE customer_id = ? ORDER BY is_default DESC, id LIMIT 10",
            row["id"],
        ),
        choices=choices_of(GROUPS),
        errors=errors,
    )
