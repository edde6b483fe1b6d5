"""The address book."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.shopping.fields import ShopFields
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext


@SITE.get("/account/addresses", signed_in=True)
def addresses(context: RequestContext) -> Response:
    """List the addresses, the default one first."""
    return context.render(
        "addresses.html",
        addresses=context.rows(
            "SELECT * FROM addresses WHERE customer_id = ? ORDER BY is_default DESC, id",
            context.user_id,
        ),
    )


@SITE.get("/account/addresses/new", signed_in=True)
def new(context: RequestContext) -> Response:
    """Show an empty form."""
    assert context.user is not None
    return _form(ShopFields(context, {"name": context.user["name"]}), None)


@SITE.post("/account/addresses/new", signed_in=True)
def add(context: RequestContext) -> Response:
    """Add an address."""
    fields = ShopFields(context)
    address = fields.address()
    if fields.errors:
        return _form(fields, None)
    number = context.insert("addresses", customer_id=context.user_id, **address)
    if context.field("default"):
        _make_default(context, number)
    context.flash("The address was added.")
    return context.redirect("/account/addresses")


@SITE.get("/account/addresses/{number}", signed_in=True)
def edit(context: RequestContext, number: str) -> Response:
    """Show the form of an address."""
    row = _address(context, number)
    return _form(ShopFields(context, row), row)


@SITE.post("/account/addresses/{number}", signed_in=True)
def save(context: RequestContext, number: str) -> Response:
    """Change an address."""
    row = _address(context, number)
    fields = ShopFields(context)
    address = fields.address()
    if fields.errors:
        return _form(fields, row)
    context.update("addresses", row["id"], **address)
    if context.field("default"):
        _make_default(context, row["id"])
    context.flash("The address was saved.")
    return context.redirect("/account/addresses")


@SITE.post("/account/addresses/{number}/default", signed_in=True)
def make_default(context: RequestContext, number: str) -> Response:
    """Make an address the default one."""
    _make_default(context, _address(context, number)["id"])
    context.flash("The default address was changed.")
    return context.redirect("/account/addresses")


@SITE.post("/account/addresses/{number}/delete", signed_in=True)
def delete(context: RequestContext, number: str) -> Response:
    """Delete an address, unless it is the default one."""
    row = _address(context, number)
    if row["is_default"]:
        context.flash(
            "The default address cannot be deleted. Choose another default first.", "error"
        )
    else:
        context.run("DELETE FROM addresses WHERE id = ?", row["id"])
        context.flash("The address was deleted.")
    return context.redirect("/account/addresses")


def _address(context: RequestContext, number: str) -> sqlite3.Row:
    return context.find(
        "There is no such address in your address book.",
        "SELECT * FROM addresses WHERE id = ? AND customer_id = ?",
        *(number, context.user_id),
    )


def _make_default(context: RequestContext, number: int) -> None:
    context.run(
        "UPDATE addresses SET is_default = (id = ?) WHERE customer_id = ?", number, context.user_id
    )


def _form(fields: ShopFields, row: sqlite3.Row | None) -> Response:
    wants_default = bool(fields.context.form.get("default"))
    return fields.page("address.html", address=row, wants_default=wants_default)
