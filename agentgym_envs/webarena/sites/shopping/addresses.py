"""The address book."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.webarena.sites.shopping.fields import Fields, Texts
from agentgym_envs.webarena.sites.shopping.site import SITE
from agentgym_envs.webarena.sites.web import NotFound, Visit


@SITE.get("/account/addresses", signed_in=True)
def addresses(visit: Visit) -> Response:
    """List the addresses, the default one first."""
    assert visit.user is not None
    return visit.render(
        "addresses.html",
        addresses=visit.rows(
            "SELECT * FROM addresses WHERE customer_id = ? ORDER BY is_default DESC, id",
            visit.user["id"],
        ),
    )


@SITE.get("/account/addresses/new", signed_in=True)
def new(visit: Visit) -> Response:
    """Show an empty form."""
    assert visit.user is not None
    return _form(visit, Texts(name=visit.user["name"]), Texts(), None)


@SITE.post("/account/addresses/new", signed_in=True)
def add(visit: Visit) -> Response:
    """Add an address."""
    assert visit.user is not None
    fields = Fields(visit)
    address = fields.address()
    if not fields.is_valid:
        return _form(visit, fields.values, fields.errors, None)
    number = visit.run(
        "INSERT INTO addresses (customer_id, name, street, town, postcode, phone) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        *(visit.user["id"], *address.values()),
    )
    if visit.field("default"):
        _make_default(visit, number)
    visit.flash("The address was added.")
    return visit.redirect("/account/addresses")


@SITE.get("/account/addresses/{number}", signed_in=True)
def edit(visit: Visit, number: str) -> Response:
    """Show the form of an address."""
    row = _address(visit, number)
    return _form(visit, Texts((key, str(row[key])) for key in row.keys()), Texts(), row)


@SITE.post("/account/addresses/{number}", signed_in=True)
def save(visit: Visit, number: str) -> Response:
    """Change an address."""
    row = _address(visit, number)
    fields = Fields(visit)
    address = fields.address()
    if not fields.is_valid:
        return _form(visit, fields.values, fields.errors, row)
    visit.run(
        "UPDATE addresses SET name = ?, street = ?, town = ?, postcode = ?, phone = ? WHERE id = ?",
        *(*address.values(), row["id"]),
    )
    if visit.field("default"):
        _make_default(visit, row["id"])
    visit.flash("The address was saved.")
    return visit.redirect("/account/addresses")


@SITE.post("/account/addresses/{number}/default", signed_in=True)
def make_default(visit: Visit, number: str) -> Response:
    """Make an address the default one."""
    _make_default(visit, _address(visit, number)["id"])
    visit.flash("The default address was changed.")
    return visit.redirect("/account/addresses")


@SITE.post("/account/addresses/{number}/delete", signed_in=True)
def delete(visit: Visit, number: str) -> Response:
    """Delete an address, unless it is the default one."""
    row = _address(visit, number)
    if row["is_default"]:
        visit.flash("The default address cannot be deleted. Choose another default first.", "error")
    else:
        visit.run("DELETE FROM addresses WHERE id = ?", row["id"])
        visit.flash("The address was deleted.")
    return visit.redirect("/account/addresses")


def _address(visit: Visit, number: str) -> sqlite3.Row:
    assert visit.user is not None
    row = visit.row(
        "SELECT * FROM addresses WHERE id = ? AND customer_id = ?", number, visit.user["id"]
    )
    if row is None:
        raise NotFound("There is no such address in your address book.")
    return row


def _make_default(visit: Visit, number: int) -> None:
    assert visit.user is not None
    visit.run(
        "UPDATE addresses SET is_default = (id = ?) WHERE customer_id = ?",
        *(number, visit.user["id"]),
    )


def _form(
    visit: Visit,
    values: Texts,
    errors: Texts,
    row: sqlite3.Row | None,
) -> Response:
    return visit.render(
        "address.html",
        status=422 if errors else 200,
        values=values,
        errors=errors,
        address=row,
        wants_default=bool(visit.form.get("default")),
    )
