"""People: their profiles, following, and editing one's own."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.webarena.sites.gitlab.access import visitor_id
from agentgym_envs.webarena.sites.gitlab.dashboard import list_projects, order_choices
from agentgym_envs.webarena.sites.gitlab.reading import MAX_TITLE
from agentgym_envs.webarena.sites.gitlab.site import SITE
from agentgym_envs.webarena.sites.paging import Pages
from agentgym_envs.webarena.sites.web import NotFound, Visit

RESERVED = ("follow", "followers", "following")
"""What a project cannot be called, since these pages of people are; `projects` comes after them."""

_OWN_FIELDS = ("name", "status_text", "location", "bio")


@SITE.get("/profile", signed_in=True)
def profile_form(visit: Visit) -> Response:
    """Show the form of one's own profile."""
    assert visit.user is not None
    values = {field: visit.user[field] for field in _OWN_FIELDS}
    return visit.render("profile_edit.html", values=values, errors={})


@SITE.post("/profile", signed_in=True)
def save_profile(visit: Visit) -> Response:
    """Change one's own profile."""
    values = {field: visit.form.get(field, "").strip() for field in _OWN_FIELDS}
    errors = {
        field: f"At most {MAX_TITLE} characters."
        for field, value in values.items()
        if len(value) > MAX_TITLE
    }
    if not values["name"]:
        errors["name"] = "Enter your name."
    if errors:
        return visit.render("profile_edit.html", status=422, values=values, errors=errors)
    visit.run(
        "UPDATE users SET name = ?, status_text = ?, location = ?, bio = ? WHERE id = ?",
        *values.values(),
        visitor_id(visit),
    )
    visit.flash("Your profile has been saved.")
    return visit.redirect("/profile")


@SITE.get("/~{username}")
def profile(visit: Visit, username: str) -> Response:
    """Show a person and their projects."""
    person = _person(visit, username)
    rows, pages = list_projects(visit, "p.owner_id = ?", person["id"], size=8)
    counts = visit.row(
        "SELECT (SELECT count(*) FROM follows WHERE followed_id = u.id) AS followers, "
        "(SELECT count(*) FROM follows WHERE follower_id = u.id) AS following "
        "FROM users u WHERE u.id = ?",
        person["id"],
    )
    is_followed = visit.value(
        "SELECT 1 FROM follows WHERE follower_id = ? AND followed_id = ?",
        visitor_id(visit),
        person["id"],
    )
    return visit.render(
        "profile.html",
        person=person,
        rows=rows,
        pages=pages,
        orders=order_choices(),
        counts=counts,
        is_followed=bool(is_followed),
    )


@SITE.get("/~{username}/followers")
def followers(visit: Visit, username: str) -> Response:
    """List who follows a person."""
    return _people(visit, username, "followers", "f.followed_id = ? AND u.id = f.follower_id")


@SITE.get("/~{username}/following")
def following(visit: Visit, username: str) -> Response:
    """List whom a person follows."""
    return _people(visit, username, "following", "f.follower_id = ? AND u.id = f.followed_id")


@SITE.post("/~{username}/follow", signed_in=True)
def follow(visit: Visit, username: str) -> Response:
    """Follow a person, or stop it."""
    person, user = _person(visit, username), visitor_id(visit)
    if person["id"] == user:
        visit.flash("You cannot follow yourself.", "error")
    elif visit.field("stop"):
        visit.run(
            "DELETE FROM follows WHERE follower_id = ? AND followed_id = ?", user, person["id"]
        )
        visit.flash(f"You no longer follow {person['name']}.")
    else:
        visit.run("INSERT OR IGNORE INTO follows VALUES (?, ?)", user, person["id"])
        visit.flash(f"You follow {person['name']}.")
    return visit.redirect(f"/~{person['username']}")


def _person(visit: Visit, username: str) -> sqlite3.Row:
    person = visit.row("SELECT * FROM users WHERE username = ?", username)
    if person is None:
        raise NotFound("There is no such user.")
    return person


def _people(visit: Visit, username: str, what: str, condition: str) -> Response:
    person = _person(visit, username)
    tables = f"FROM follows f JOIN users u ON {condition}"
    total = visit.value(f"SELECT count(*) {tables}", person["id"])
    pages = Pages.of(visit, total, 20)
    rows = visit.rows(
        f"SELECT u.* {tables} ORDER BY u.name LIMIT ? OFFSET ?",
        person["id"],
        pages.size,
        pages.offset,
    )
    return visit.render("people.html", person=person, what=what, rows=rows, pages=pages)
