"""People: their profiles, following, and editing one's own."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.gitlab.dashboard import ORDERS, list_projects
from agentgym_envs.sites.gitlab.fields import ForgeFields
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.listing import Listing, order_choices
from agentgym_envs.sites.web import RequestContext

RESERVED = ("follow", "followers", "following")
"""Names that no project can have, as profiles have pages of these names.

`projects` comes after them.
"""

_OWN_FIELDS = ("name", "status_text", "location", "bio")


@SITE.get("/profile", signed_in=True)
def profile_form(context: RequestContext) -> Response:
    """Show the form of the visitor's profile."""
    return ForgeFields(context, context.user).page("profile_edit.html")


@SITE.post("/profile", signed_in=True)
def save_profile(context: RequestContext) -> Response:
    """Change one's own profile."""
    fields = ForgeFields(context)
    values = {field: fields.text(field, least=0) for field in _OWN_FIELDS}
    if not values["name"]:
        fields.errors["name"] = "Enter your name."
    if fields.errors:
        return fields.page("profile_edit.html")
    context.update("users", context.user_id, **values)
    context.flash("Your profile has been saved.")
    return context.redirect("/profile")


@SITE.get("/~{username}")
def profile(context: RequestContext, username: str) -> Response:
    """Show a person and their projects."""
    person = _person(context, username)
    rows, pages = list_projects(context, "p.owner_id = ?", person["id"], size=8)
    counts = context.row(
        "SELECT (SELECT count(*) FROM follows WHERE followed_id = u.id) AS followers, "
        "(SELECT count(*) FROM follows WHERE follower_id = u.id) AS following "
        "FROM users u WHERE u.id = ?",
        person["id"],
    )
    is_followed = context.value(
        "SELECT 1 FROM follows WHERE follower_id = ? AND followed_id = ?",
        context.user_id,
        person["id"],
    )
    return context.render(
        "profile.html",
        person=person,
        rows=rows,
        pages=pages,
        orders=order_choices(ORDERS),
        counts=counts,
        is_followed=bool(is_followed),
    )


@SITE.get("/~{username}/followers")
def followers(context: RequestContext, username: str) -> Response:
    """List who follows a person."""
    return _people(context, username, "followers", "f.followed_id = ? AND u.id = f.follower_id")


@SITE.get("/~{username}/following")
def following(context: RequestContext, username: str) -> Response:
    """List whom a person follows."""
    return _people(context, username, "following", "f.follower_id = ? AND u.id = f.followed_id")


@SITE.post("/~{username}/follow", signed_in=True)
def follow(context: RequestContext, username: str) -> Response:
    """Follow a person, or stop it."""
    person, user = _person(context, username), context.user_id
    if person["id"] == user:
        context.flash("You cannot follow yourself.", "error")
    elif context.field("stop"):
        context.run(
            "DELETE FROM follows WHERE follower_id = ? AND followed_id = ?", user, person["id"]
        )
        context.flash(f"You no longer follow {person['name']}.")
    else:
        context.run("INSERT OR IGNORE INTO follows VALUES (?, ?)", user, person["id"])
        context.flash(f"You follow {person['name']}.")
    return context.redirect(f"/~{person['username']}")


def _person(context: RequestContext, username: str) -> sqlite3.Row:
    sql = "SELECT * FROM users WHERE username = ?"
    return context.find("There is no such user.", sql, username)


def _people(context: RequestContext, username: str, what: str, condition: str) -> Response:
    person = _person(context, username)
    listing = Listing(context, "follows f, users u", size=20).where(condition, person["id"])
    rows, pages = listing.rows("u.*", order="u.name")
    return context.render("people.html", person=person, what=what, rows=rows, pages=pages)
