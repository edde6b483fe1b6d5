"""Coupons: the list, and the form for one, old or new."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.shopping_admin.entries import Entries, read_id
from agentgym_envs.sites.shopping_admin.grids import Grid
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

SORTING = {
    "code": ("Code", "code"),
    "used": ("Most used first", "times_used DESC, code"),
    "percent": ("Highest discount first", "percent DESC, code"),
    "ending": ("Ending first", "ends_on, code"),
}
_CODE = re.compile(r"[A-Z0-9]{4,20}")
_TYPED = ("code", "name", "percent", "starts_on", "ends_on")


@SITE.get("/coupons", signed_in=True)
def coupons(context: RequestContext) -> Response:
    """List coupons."""
    grid = Grid(context, "coupons", SORTING)
    grid.contains("code", "code", "name")
    status = context.field("status")
    if status in ("active", "inactive"):
        grid.add("is_active = ?", int(status == "active"))
    rows, pages = grid.rows("*")
    return context.render("coupons.html", rows=rows, pages=pages, grid=grid)


@SITE.get("/coupons/new", signed_in=True)
def new_coupon(context: RequestContext) -> Response:
    """Show an empty form."""
    values = dict.fromkeys(_TYPED, "") | {"is_active": True}
    return context.render("coupon.html", coupon=None, values=values, errors={})


@SITE.post("/coupons/new", signed_in=True)
def add_coupon(context: RequestContext) -> Response:
    """Add a coupon."""
    values, errors = _read(context, 0)
    if errors:
        return context.render("coupon.html", coupon=None, values=_typed(context), errors=errors)
    context.run(
        f"INSERT INTO coupons ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        *values.values(),
    )
    context.flash(f"The coupon {values['code']} was added.")
    return context.redirect("/coupons")


@SITE.get("/coupons/{coupon_id}", signed_in=True)
def edit_coupon(context: RequestContext, coupon_id: str) -> Response:
    """Show the form of a coupon."""
    row = _coupon_of(context, coupon_id)
    return context.render("coupon.html", coupon=row, values=row, errors={})


@SITE.post("/coupons/{coupon_id}", signed_in=True)
def save_coupon(context: RequestContext, coupon_id: str) -> Response:
    """Change a coupon."""
    row = _coupon_of(context, coupon_id)
    values, errors = _read(context, row["id"])
    if errors:
        return context.render("coupon.html", coupon=row, values=_typed(context), errors=errors)
    changes = ", ".join(f"{name} = ?" for name in values)
    context.run(f"UPDATE coupons SET {changes} WHERE id = ?", *values.values(), row["id"])
    context.flash(f"The coupon {values['code']} was saved.")
    return context.redirect("/coupons")


@SITE.post("/coupons/{coupon_id}/switch", signed_in=True)
def switch(context: RequestContext, coupon_id: str) -> Response:
    """Activate a coupon, or deactivate it."""
    row = _coupon_of(context, coupon_id)
    is_active = context.field("is_active") == "1"
    context.run("UPDATE coupons SET is_active = ? WHERE id = ?", int(is_active), row["id"])
    context.flash(f"The coupon {row['code']} is {'active' if is_active else 'inactive'} now.")
    return context.redirect("/coupons")


def _coupon_of(context: RequestContext, coupon_id: str) -> sqlite3.Row:
    row = context.row("SELECT * FROM coupons WHERE id = ?", read_id(coupon_id))
    if row is None:
        raise NotFound("There is no such coupon.")
    return row


def _read(context: RequestContext, own_id: int) -> tuple[dict[str, Any], Mapping[str, str]]:
    entries = Entries(context)
    values: dict[str, Any] = {
        "code": entries.text("code", "Code", longest=20),
        "name": entries.text("name", "Name", longest=80),
        "percent": entries.whole("percent", "Discount", 1, 90),
        "starts_on": entries.day("starts_on", "First day"),
        "ends_on": entries.day("ends_on", "Last day"),
        "is_active": int(entries.is_ticked("is_active")),
    }
    if values["code"] and not _CODE.fullmatch(values["code"]):
        entries.errors["code"] = "A code has 4 to 20 capital letters and digits."
    elif context.value("SELECT 1 FROM coupons WHERE code = ? AND id <> ?", values["code"], own_id):
        entries.errors["code"] = "There is a coupon of this code already."
    if "" < values["ends_on"] < values["starts_on"]:
        entries.errors["ends_on"] = "The last day must not be before the first day."
    return values, entries.errors


def _typed(context: RequestContext) -> dict[str, Any]:
    values: dict[str, Any] = {name: context.field(name) for name in _TYPED}
    return values | {"is_active": bool(context.field("is_active"))}
