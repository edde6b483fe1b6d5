"""Signs people in and out, in the same way on every site that has users."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from starlette.responses import Response

from agentgym_envs.sites.web import RequestContext, Site

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
    def show(context: RequestContext) -> Response:
        if context.user is not None:
            return context.redirect(context.way_back(home))
        return _page(context, "", {}, home)

    @site.post("/login")
    def sign_in(context: RequestContext) -> Response:
        name, password = context.field("username"), context.form.get("password", "")
        errors = {}
        if not name:
            errors["username"] = NO_NAME
        if not password:
            errors["password"] = NO_PASSWORD
        named = context.rows(
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
            return _page(context, name, errors, home, status=422)
        context.sign_in(user["id"])
        context.flash("You are signed in.")
        return context.redirect(context.way_back(home))

    @site.post("/logout")
    def sign_out(context: RequestContext) -> Response:
        context.sign_out()
        context.flash("You are signed out.", "notice")
        return context.redirect("/")


def _page(
    context: RequestContext, name: str, errors: dict[str, str], home: str, *, status: int = 200
) -> Response:
    return context.render(
        "login.html", status=status, username=name, errors=errors, next=context.way_back(home)
    )
