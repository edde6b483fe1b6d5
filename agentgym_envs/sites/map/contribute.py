"""What users add to the map: reviews, and suggestions of corrections."""

from __future__ import annotations

import re
import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.map.hours import DAYS
from agentgym_envs.sites.map.place import place_of
from agentgym_envs.sites.map.site import SITE
from agentgym_envs.sites.web import RequestContext

STARS = [(str(number), f"{number} star{'s' * (number > 1)}") for number in (5, 4, 3, 2, 1)]
LONGEST_REVIEW = 600
FIELDS = {
    "phone": "Phone",
    "website": "Website",
    "wheelchair": "Wheelchair access",
    **{day.lower(): f"Hours on {day}" for day in DAYS},
}
"""What a suggestion can be about: its name in the database and on pages."""

_PATTERNS = {
    "phone": (r"0\d\d \d{3} \d{3}", "A phone number is written like 031 402 118."),
    "website": (r"www(\.[a-z0-9-]+)+", "A website is written like www.example.test."),
    "wheelchair": (r"yes|limited|no", "Wheelchair access is yes, limited or no."),
}
_HOURS = (r"closed|open 24 hours|\d\d:\d\d-\d\d:\d\d",
          "Hours are written like 09:00-17:30, or closed.")  # fmt: skip


@SITE.get("/place/{number}/review", signed_in=True)
def review_form(context: RequestContext, number: str) -> Response:
    """Ask for a rating and a text; one's earlier review can be changed."""
    place = place_of(context, number)
    mine = context.row(
        "SELECT * FROM reviews WHERE place_id = ? AND user_id = ?", place["id"], context.user_id
    )
    if mine is None:
        return _review_page(context, place, "", "")
    return _review_page(context, place, str(mine["rating"]), mine["body"])


def _review_page(
    context: RequestContext,
    place: sqlite3.Row,
    rating: str,
    body: str,
    errors: dict[str, str] | None = None,
) -> Response:
    return context.render(
        "review.html",
        status=422 if errors else 200,
        place=place,
        stars=[("", "Choose"), *STARS],
        rating=rating,
        body=body,
        errors=errors or {},
    )


@SITE.post("/place/{number}/review", signed_in=True)
def review(context: RequestContext, number: str) -> Response:
    """Keep a review and work the place's rating out anew."""
    place = place_of(context, number)
    rating, body = context.field("rating"), context.field("body")
    errors = {}
    if rating not in dict(STARS):
        errors["rating"] = "Choose one to five stars."
    if len(body) > LONGEST_REVIEW:
        errors["body"] = f"The text has {len(body)} characters; at most {LONGEST_REVIEW} fit."
    if errors:
        return _review_page(context, place, rating, body, errors)
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
    place = place_of(context, number)
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
    """Ask what is wrong and what is right."""
    return _suggest_page(context, place_of(context, number))


def _suggest_page(
    context: RequestContext, place: sqlite3.Row, errors: dict[str, str] | None = None
) -> Response:
    return context.render(
        "suggest.html",
        status=422 if errors else 200,
        place=place,
        fields=[("", "Choose"), *FIELDS.items()],
        chosen=context.field("field"),
        value=context.field("value"),
        comment=context.field("comment"),
        errors=errors or {},
    )


@SITE.post("/place/{number}/suggest", signed_in=True)
def suggest(context: RequestContext, number: str) -> Response:
    """Keep a suggestion until the editors have looked at it."""
    place = place_of(context, number)
    field, value, comment = context.field("field"), context.field("value"), context.field("comment")
    if field in ("wheelchair", *(day.lower() for day in DAYS)):
        value = value.lower()
    errors = {}
    if field not in FIELDS:
        errors["field"] = "Choose what is wrong."
    else:
        pattern, help_text = _PATTERNS.get(field, _HOURS)
        if not re.fullmatch(pattern, value, re.ASCII):
            errors["value"] = help_text
    if len(comment) > LONGEST_REVIEW:
        errors["comment"] = f"At most {LONGEST_REVIEW} characters fit."
    if errors:
        return _suggest_page(context, place, errors)
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
    """Take a suggestion back that nobody has looked at yet."""
    sql = "SELECT * FROM suggestions WHERE id = ? AND user_id = ?"
    row = context.find("You have made no such suggestion.", sql, number, context.user_id)
    if row["status"] == "pending":
        context.run("DELETE FROM suggestions WHERE id = ?", row["id"])
        context.flash("The suggestion is withdrawn.")
    else:
        context.flash("The editors have already looked at it.", "error")
    return context.redirect("/contributions")
