"""Coupons: the list, and the form for one, old or new."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.shopping_admin.site import SITE, AdminFields
from agentgym_envs.sites.web import RequestContext, read_id

SORTING = {
    "code": ("Code", "code"),
    "used": ("Most used first", "times_used DESC, code"),
    "percent": ("Highest discount first", "percent DESC, code"),
    "ending": ("Ending first", "ends_on, code"),
}


@SITE.get("/coupons", signed_in=True)
def coupons(context: RequestContext) -> Response:
    """List coupons."""
    grid = Listing(context, "coupons", SORTING)
    grid.contains("code", "code", "name")
    status = context.field("status")
    if status in ("active", "inactive"):
        grid.where("is_active = ?", int(status == "active"))
    rows, pages = grid.rows("*")
    return context.render("coupons.html", rows=rows, pages=pages, grid=grid)


@SITE.get("/coupons/new", signed_in=True)
def new_coupon(context: RequestContext) -> Response:
    """Show an empty form."""
    return AdminFields(context, {"is_active": True}).page("coupon.html", coupon=None)


@SITE.post("/coupons/new", signed_in=True)
def add_coupon(context: RequestContext) -> Response:
    """Add a coupon."""
    values, fields = _read(context, 0)
    if fields.errors:
        return fields.page("coupon.html", coupon=None)
    context.insert("coupons", **values)
    context.flash(f"The coupon {values['code']} was added.")
    return context.redirect("/coupons")


@SITE.get("/coupons/{coupon_id}", signed_in=True)
def edit_coupon(context: RequestContext, coupon_id: str) -> Response:
    """Show the form of a coupon."""
    row = _find_coupon(context, coupon_id)
    return AdminFields(context, row).page("coupon.html", coupon=row)


@SITE.post("/coupons/{coupon_id}", signed_in=True)
def save_coupon(context: RequestContext, coupon_id: str) -> Response:
    """Change a coupon."""
    row = _find_coupon(context, coupon_id)
    values, fields = _read(context, row["id"])
    if fields.errors:
        return fields.page("coupon.html", coupon=row)
    context.update("coupons", row["id"], **values)
    context.flash(f"The coupon {values['code']} was saved.")
    return context.redirect("/coupons")


@SITE.post("/coupons/{coupon_id}/switch", signed_in=True)
def switch(context: RequestContext, coupon_id: str) -> Response:
    """Activate a coupon, or deactivate it."""
    row = _find_coupon(context, coupon_id)
    is_active = context.field("is_active") == "1"
    context.update("coupons", row["id"], is_active=int(is_active))
    context.flash(f"The coupon {row['code']} is {'active' if is_active else 'inactive'} now.")
    return context.redirect("/coupons")


def _find_coupon(context: RequestContext, coupon_id: str) -> sqlite3.Row:
    sql = "SELECT * FROM coupons WHERE id = ?"
    return context.find("There is no such coupon.", sql, read_id(coupon_id))


def _read(context: RequestContext, own_id: int) -> tuple[dict[str, Any], AdminFields]:
    fields = AdminFields(context)
    values: dict[str, Any] = {
        "code": fields.matching(
            "code", "Code", "[A-Z0-9]{4,20}", "A code has 4 to 20 capital letters and digits."
        ),
        "name": fields.text("name", "Name", most=80),
        "percent": fields.whole("percent", "Discount", 1, 90),
        "starts_on": fields.day("starts_on", "First day must be a day written YYYY-MM-DD."),
        "ends_on": fields.day("ends_on", "Last day must be a day written YYYY-MM-DD."),
        "is_active": int(fields.is_ticked("is_active")),
    }
    if context.value("SELECT 1 FROM coupons WHERE code = ? AND id <> ?", values["code"], own_id):
        fields.errors["code"] = "There is a coupon of this code already."
    if "" < values["ends_on"] < values["starts_on"]:
        fields.errors["ends_on"] = "The last day must not be before the first day."
    fields.typed("code", "name")
    return values, fields
