"""Signing in and out, registering, and the user's settings."""

from __future__ import annotations

import re

from starlette.responses import Response

from agentgym_envs.sites.reddit.lookup import (
    faults,
    line_of,
    me,
    too_long,
    typed,
)
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.signing_in import add_signing_in
from agentgym_envs.sites.web import RequestContext

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


add_signing_in(SITE)


@SITE.get("/register")
def register(context: RequestContext) -> Response:
    """Show the empty form."""
    return context.render("register.html", values={}, wrong={})


@SITE.post("/register")
def create_account(context: RequestContext) -> Response:
    """Create an account and sign in."""
    values = {key: line_of(context, key) for key in ("username", "name", "email")}
    wrong = _faults_of_person(values)
    taken = context.row("SELECT 1 FROM users WHERE username = ? COLLATE NOCASE", values["username"])
    if not re.fullmatch(r"[A-Za-z0-9._-]{3,24}", values["username"]):
        wrong["username"] = "Use 3 to 24 letters, digits, dots, hyphens or underscores."
    elif taken or not values["username"].strip("."):
        wrong["username"] = "This user name is taken."
    wrong |= _faults_of_password(context)
    if wrong:
        return context.render("register.html", status=422, values=values, wrong=wrong)
    number = context.run(
        "INSERT INTO users (username, name, password, email, created_at) VALUES (?, ?, ?, ?, ?)",
        values["username"],
        values["name"],
        context.field("password"),
        values["email"],
        context.now,
    )
    context.sign_in(number)
    context.flash(f"Welcome to Commonplace, {values['name']}.")
    return context.redirect("/communities")


@SITE.get("/settings", signed_in=True)
def settings(context: RequestContext) -> Response:
    """Show name, address, biography and the change of password."""
    return _settings(context, {}, {})


@SITE.post("/settings", signed_in=True)
def change_settings(context: RequestContext) -> Response:
    """Change name, address and biography."""
    values = {"name": line_of(context, "name"), "email": line_of(context, "email")}
    values["bio"] = typed(context, "bio")
    wrong = _faults_of_person(values) | faults(bio=too_long(values["bio"], 500))
    if wrong:
        return _settings(context, values, wrong)
    context.run(
        "UPDATE users SET name = ?, email = ?, bio = ? WHERE id = ?",
        values["name"],
        values["email"],
        values["bio"],
        me(context),
    )
    context.flash("Your settings are saved.")
    return context.redirect("/settings")


@SITE.post("/settings/password", signed_in=True)
def change_password(context: RequestContext) -> Response:
    """Change the password."""
    wrong = _faults_of_password(context)
    assert context.user is not None
    if context.field("current") != context.user["password"]:
        wrong["current"] = "This is not your password."
    if wrong:
        return _settings(context, {}, wrong)
    context.run(
        "UPDATE users SET password = ? WHERE id = ?", context.field("password"), me(context)
    )
    context.flash("Your password has been changed.")
    return context.redirect("/settings")


@SITE.get("/settings/blocked", signed_in=True)
def blocked(context: RequestContext) -> Response:
    """List whom the user has blocked."""
    rows = context.rows(
        "SELECT u.username, u.name FROM blocked_users b JOIN users u ON u.id = b.blocked_id "
        "WHERE b.user_id = ? ORDER BY u.username",
        me(context),
    )
    return context.render("blocked.html", rows=rows)


def _settings(context: RequestContext, values: dict[str, str], wrong: dict[str, str]) -> Response:
    assert context.user is not None
    return context.render(
        "settings.html",
        status=422 if wrong else 200,
        values=dict(context.user) | values,
        wrong=wrong,
    )


def _faults_of_person(values: dict[str, str]) -> dict[str, str]:
    email = values["email"]
    is_address = _EMAIL.fullmatch(email) and len(email) <= 120
    return faults(
        name=too_long(values["name"], 80) if values["name"] else "Tell us a name.",
        email="" if is_address else "Write a whole address: name@post.test",
    )


def _faults_of_password(context: RequestContext) -> dict[str, str]:
    password = context.field("password")
    is_good = 8 <= len(password) <= 200
    return faults(
        password="" if is_good else "Use at least 8 characters, and at most 200.",
        repeat="" if password == context.field("repeat") else "The two passwords differ.",
    )
