"""People: their profiles, following, and editing one's own."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import visitor_id
from agentgym_envs.sites.gitlab.dashboard import list_projects, order_choices
from agentgym_envs.sites.gitlab.reading import MAX_TITLE
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.web import NotFound, RequestContext

RESERVED = ("follow", "followers", "following")
"""What a project cannot be called, since these pages of people are; `projects` comes after them."""

_OWN_FIELDS = ("name", "status_text", "location", "bio")


@SITE.get("/profile", signed_in=True)
def profile_form(context: RequestContext) -> Response:
    """Show the form of one's own profile."""
    assert context.user is not None
    values = {field: context.user[field] for field in _OWN_FIELDS}
    return context.render("profile_edit.html", values=values, errors={})


@SITE.post("/profile", signed_in=True)
def save_profile(context: RequestContext) -> Response:
    """Change one's own profile."""
    values = {field: context.form.get(field, "").strip() for field in _OWN_FIELDS}
    errors = {
        field: f"At most {MAX_TITLE} characters."
        for field, value in values.items()
        if len(value) > MAX_TITLE
    }
    if not values["name"]:
        errors["name"] = "Enter your name."
    if errors:
        return context.render("profile_edit.html", status=422, values=values, errors=errors)
    context.run(
        "UPDATE users SET name = ?, status_text = ?, location = ?, bio = ? WHERE id = ?",
        *values.values(),
        visitor_id(context),
    )
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
        visitor_id(context),
        person["id"],
    )
    return context.render(
        "profile.html",
        person=person,
        rows=rows,
        pages=pages,
        orders=order_choices(),
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
    person, user = _person(context, username), visitor_id(context)
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
    person = context.row("SELECT * FROM users WHERE username = ?", username)
    if person is None:
        raise NotFound("There is no such user.")
    return person


def _people(context: RequestContext, username: str, what: str, condition: str) -> Response:
    person = _person(context, username)
    tables = f"FROM follows f JOIN users u ON {condition}"
    total = context.value(f"SELECT count(*) {tables}", person["id"])
    pages = Pages.of(context, total, 20)
    rows = context.rows(
        f"SELECT u.* {tables} ORDER BY u.name LIMIT ? OFFSET ?",
        person["id"],
        pages.size,
        pages.offset,
    )
    return context.render("people.html", person=person, what=what, rows=rows, pages=pages)
