"""Signing in and out: the same on every site that knows people."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from starlette.responses import Response

from agentgym_envs.webarena.sites.web import Site, Visit

WRONG = "User name and password do not match."
NO_NAME = "User name is required."
NO_PASSWORD = "Password is required."
NOT_ACTIVE = "This account is not active."


def add_signing_in(
    site: Site,
    *,
    home: str = "/",
    password_of: Callable[[sqlite3.Row], str] = lambda user: str(user["password"]),
    is_active: Callable[[sqlite3.Row], bool] = lambda user: True,
) -> None:
    """Give a site the pages `/login` and `/logout`.

    A user name or e-mail address in any case will do, and who is signed in already is sent on.

    Args:
        site: its users have the columns `id`, `username` and `email`.
        home: where signing in leads if nothing else was asked for.
        password_of: returns a user's password.
        is_active: tells whether a user may sign in.
    """

    @site.get("/login")
    def show(visit: Visit) -> Response:
        if visit.user is not None:
            return visit.redirect(visit.way_back(home))
        return _page(visit, "", {}, home)

    @site.post("/login")
    def sign_in(visit: Visit) -> Response:
        name, password = visit.field("username"), visit.form.get("password", "")
        errors = {}
        if not name:
            errors["username"] = NO_NAME
        if not password:
            errors["password"] = NO_PASSWORD
        named = visit.rows(
            f"SELECT * FROM {site.user_table} WHERE username = ? COLLATE NOCASE "
            "OR email = ? COLLATE NOCASE ORDER BY id",
            name,
            name,
        )
        user = next((user for user in named if password_of(user) == password), None)
        if user is None and not errors:
            errors["password"] = WRONG
        elif user is not None and not is_active(user):
            errors["username"] = NOT_ACTIVE
        if user is None or errors:
            return _page(visit, name, errors, home, status=422)
        visit.sign_in(user["id"])
        visit.flash("You are signed in.")
        return visit.redirect(visit.way_back(home))

    @site.post("/logout")
    def sign_out(visit: Visit) -> Response:
        visit.sign_out()
        visit.flash("You are signed out.", "notice")
        return visit.redirect("/")


def _page(
    visit: Visit, name: str, errors: dict[str, str], home: str, *, status: int = 200
) -> Response:
    return visit.render(
        "login.html", status=status, username=name, errors=errors, next=visit.way_back(home)
    )
