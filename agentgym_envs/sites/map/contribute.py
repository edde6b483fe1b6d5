"""Users' contributions to the map: reviews and suggested corrections."""

from __future__ import annotations

import re
import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.map.hours import DAYS
from agentgym_envs.sites.map.place import find_place
from agentgym_envs.sites.map.site import SITE, MapFields
from agentgym_envs.sites.web import RequestContext

STARS = [(str(number), f"{number} star{'s' * (number > 1)}") for number in (5, 4, 3, 2, 1)]
LONGEST_REVIEW = 600
FIELDS = {
    "phone": "Phone",
    "website": "Website",
    "wheelchair": "Wheelchair access",
    **{day.lower(): f"Hours on {day}" for day in DAYS},
}
"""Subjects of suggestions: names in the database and on pages."""

_PATTERNS = {
    "phone": (r"0\d\d \d{3} \d{3}", "A phone number is written like 031 402 118."),
    "website": (r"www(\.[a-z0-9-]+)+", "A website is written like www.example.test."),
    "wheelchair": (r"yes|limited|no", "Wheelchair access is yes, limited or no."),
}
_HOURS = (r"closed|open 24 hours|\d\d:\d\d-\d\d:\d\d",
          "Hours are written like 09:00-17:30, or closed.")  # fmt: skip


@SITE.get("/place/{number}/review", signed_in=True)
def review_form(context: RequestContext, number: str) -> Response:
    """Show the review form, with the user's earlier review."""
    place = find_place(context, number)
    mine = context.row(
        "SELECT * FROM reviews WHERE place_id = ? AND user_id = ?", place["id"], context.user_id
    )
    return _review_page(MapFields(context, mine), place)


def _review_page(fields: MapFields, place: sqlite3.Row) -> Response:
    return fields.page("review.html", place=place, stars=[("", "Choose"), *STARS])


@SITE.post("/place/{number}/review", signed_in=True)
def review(context: RequestContext, number: str) -> Response:
    """Store a review and recompute the place's rating."""
    place = find_place(context, number)
    fields = MapFields(context)
    rating = fields.choice("rating", list(dict(STARS)), "Choose one to five stars.")
    body = fields.text("body", "text", most=LONGEST_REVIEW, least=0)
    if fields.errors:
        return _review_page(fields, place)
    context.run(
        "INSERT INTO reviews (place_id, user_id, rating, body, created_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (place_id, user_id) DO UPDATE SET rating = excluded.rating,"
        " body = excluded.body, created_at = excluded.created_at",
        *(place["id"], context.user_id, int(rating), body, context.now),
    )
    _rate(context, place["id"])
    context.flash("Thank you for your review.")
    return context.redirect(f"/place/{place['id']}")


@SITE.post("/place/{number}/review/delete", signed_in=True)
def delete_review(context: RequestContext, number: str) -> Response:
    """Take one's own review back."""
    place = find_place(context, number)
    context.run(
        "DELETE FROM reviews WHERE place_id = ? AND user_id = ?", place["id"], context.user_id
    )
    _rate(context, place["id"])
    context.flash("Your review is gone.")
    return context.redirect("/contributions")


def _rate(context: RequestContext, place_id: int) -> None:
    context.run(
        "UPDATE places SET (rating, num_reviews) = (SELECT round(coalesce(avg(rating), 0), 1),"
        " count(*) FROM reviews WHERE place_id = places.id) WHERE id = ?",
        place_id,
    )


@SITE.get("/place/{number}/suggest", signed_in=True)
def suggest_form(context: RequestContext, number: str) -> Response:
    """Show the form of a correction."""
    return _suggest_page(MapFields(context), find_place(context, number))


def _suggest_page(fields: MapFields, place: sqlite3.Row) -> Response:
    fields.typed("field", "value", "comment")
    return fields.page("suggest.html", place=place, fields=[("", "Choose"), *FIELDS.items()])


@SITE.post("/place/{number}/suggest", signed_in=True)
def suggest(context: RequestContext, number: str) -> Response:
    """Keep a suggestion until the editors have looked at it."""
    place = find_place(context, number)
    fields = MapFields(context)
    field = fields.choice("field", list(FIELDS), "Choose what is wrong.")
    value, comment = context.field("value"), context.field("comment")
    if field in ("wheelchair", *(day.lower() for day in DAYS)):
        value = value.lower()
    pattern, help_text = _PATTERNS.get(field, _HOURS)
    if field in FIELDS and not re.fullmatch(pattern, value, re.ASCII):
        fields.errors["value"] = help_text
    if len(comment) > LONGEST_REVIEW:
        fields.errors["comment"] = f"At most {LONGEST_REVIEW} characters fit."
    if fields.errors:
        return _suggest_page(fields, place)
    context.insert(
        "suggestions",
        place_id=place["id"],
        user_id=context.user_id,
        field=field,
        value=value,
        comment=comment,
        created_at=context.now,
    )
    context.flash("Thank you. The editors will look at your suggestion.")
    return context.redirect(f"/place/{place['id']}")


@SITE.get("/contributions", signed_in=True)
def contributions(context: RequestContext) -> Response:
    """List the user's suggestions and reviews."""
    listing = Listing(context, "reviews r", size=8).where("r.user_id = ?", context.user_id)
    places = "JOIN places p ON p.id = {}.place_id JOIN towns t ON t.id = p.town_id"
    reviews, pages = listing.rows(
        "r.*, p.name place, t.name town",
        joined=places.format("r"),
        order="r.created_at DESC, r.id DESC",
    )
    return context.render(
        "contributions.html",
        suggestions=context.rows(
            f"SELECT g.*, p.name place, t.name town FROM suggestions g {places.format('g')}"
            " WHERE g.user_id = ? ORDER BY g.created_at DESC, g.id DESC LIMIT 12",
            context.user_id,
        ),
        reviews=reviews,
        pages=pages,
        fields=FIELDS,
    )


@SITE.post("/suggestions/{number}/withdraw", signed_in=True)
def withdraw(context: RequestContext, number: str) -> Response:
    """Withdraw a pending suggestion."""
    sql = "SELECT * FROM suggestions WHERE id = ? AND user_id = ?"
    row = context.find("You have made no such suggestion.", sql, number, context.user_id)
    if row["status"] == "pending":
        context.run("DELETE FROM suggestions WHERE id = ?", row["id"])
        context.flash("The suggestion is withdrawn.")
    else:
        context.flash("The editors have already looked at it.", "error")
    return context.redirect("/contributions")
