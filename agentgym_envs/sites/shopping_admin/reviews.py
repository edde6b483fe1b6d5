"""Reviews: the grid with its mass actions, and the form of one."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.core.text import counted
from agentgym_envs.sites.forms import as_options, read_whole
from agentgym_envs.sites.listing import Listing, order_choices
from agentgym_envs.sites.shopping_admin.site import SITE, AdminFields
from agentgym_envs.sites.web import RequestContext, read_id

STATUSES = ("approved", "pending", "rejected")
RATINGS = {
    "5": ("5 stars", "r.rating = 5"),
    "4": ("4 stars", "r.rating = 4"),
    "3": ("3 stars", "r.rating = 3"),
    "2": ("2 stars", "r.rating = 2"),
    "1": ("1 star", "r.rating = 1"),
    "low": ("Below 3 stars", "r.rating < 3"),
    "high": ("4 stars and more", "r.rating >= 4"),
}
SORTING = {
    "newest": ("Newest first", "r.created_at DESC, r.id DESC"),
    "oldest": ("Oldest first", "r.created_at, r.id"),
    "product": ("Product", "p.name, r.id"),
}
MASS_ACTIONS = {"approved": "Approve", "rejected": "Reject", "pending": "Set to pending"}


@SITE.get("/reviews", signed_in=True)
def reviews(context: RequestContext) -> Response:
    """List reviews."""
    grid = Listing(context, "reviews r JOIN products p ON p.id = r.product_id", SORTING)
    grid.contains("product", "p.name", "p.sku")
    grid.contains("text", "r.title", "r.body")
    grid.contains("nickname", "r.nickname")
    grid.equals("status", "r.status", STATUSES)
    rating = context.field("rating")
    if rating in RATINGS:
        grid.where(RATINGS[rating][1])
    grid.days("r.created_at")
    rows, pages = grid.rows(
        "r.id, r.nickname, r.title, r.rating, r.status, r.created_at, p.name AS product"
    )
    return context.render(
        "reviews.html",
        rows=rows,
        pages=pages,
        grid=grid,
        choices=as_options(STATUSES),
        ratings=order_choices(RATINGS),
        actions=list(MASS_ACTIONS.items()),
    )


@SITE.post("/reviews/mass", signed_in=True)
def change_many(context: RequestContext) -> Response:
    """Approve or reject the ticked reviews."""
    back = context.way_back("/reviews", name="back")
    status = context.field("action")
    ids = [number for text in context.fields("review") if (number := read_whole(text)) is not None]
    if status not in MASS_ACTIONS:
        context.flash("Choose what to do with the reviews.", "error")
    elif not ids:
        context.flash("Tick at least one review.", "error")
    else:
        done = 0
        for number in dict.fromkeys(ids):
            done += context.db.execute(
                "UPDATE reviews SET status = ? WHERE id = ?", (status, number)
            ).rowcount
        context.flash(f"{counted(done, 'review')} set to {status}.")
    return context.redirect(back)


@SITE.get("/reviews/{review_id}", signed_in=True)
def edit_review(context: RequestContext, review_id: str) -> Response:
    """Show the form of a review."""
    row = _find_review(context, review_id)
    return _form(AdminFields(context, row), row)


@SITE.post("/reviews/{review_id}", signed_in=True)
def save_review(context: RequestContext, review_id: str) -> Response:
    """Change a review."""
    row = _find_review(context, review_id)
    fields = AdminFields(context)
    values = {
        "status": fields.chosen("status", STATUSES),
        "rating": fields.chosen("rating", tuple("12345")),
        "nickname": fields.text("nickname", "Nickname", most=60),
        "title": fields.text("title", "Title", most=120),
        "body": fields.text("body", "Review", most=4000),
    }
    if fields.errors:
        return _form(fields, row)
    context.update("reviews", row["id"], **values)
    context.flash("The review was saved.")
    return context.redirect(f"/reviews/{row['id']}")


def _find_review(context: RequestContext, review_id: str) -> sqlite3.Row:
    return context.find(
        "There is no such review.",
        "SELECT r.*, p.name AS product FROM reviews r JOIN products p ON p.id = r.product_id "
        "WHERE r.id = ?",
        read_id(review_id),
    )


def _form(fields: AdminFields, row: sqlite3.Row) -> Response:
    return fields.page(
        "review.html",
        review=row,
        choices=as_options(STATUSES),
        ratings=[(key, label) for key, label in order_choices(RATINGS) if key.isdecimal()],
    )
