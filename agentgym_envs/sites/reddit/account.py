"""Signing in and out, registering, and the user's settings."""

from __future__ import annotations

import re

from starlette.responses import Response

from agentgym_envs.sites.reddit.lookup import ForumFields
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.signing_in import add_signing_in
from agentgym_envs.sites.web import RequestContext

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


add_signing_in(SITE)


@SITE.get("/register")
def register(context: RequestContext) -> Response:
    """Show the empty form."""
    return ForumFields(context).page("register.html")


@SITE.post("/register")
def create_account(context: RequestContext) -> Response:
    """Create an account and sign in."""
    fields = ForumFields(context)
    username = fields.line("username")
    _read_person(fields)
    taken = context.row("SELECT 1 FROM users WHERE username = ? COLLATE NOCASE", username)
    if not re.fullmatch(r"[A-Za-z0-9._-]{3,24}", username):
        fields.errors["username"] = "Use 3 to 24 letters, digits, dots, hyphens or underscores."
    elif taken or not username.strip("."):
        fields.errors["username"] = "This user name is taken."
    password = _read_password(fields)
    if fields.errors:
        return fields.page("register.html")
    number = context.insert("users", **fields.values, password=password, created_at=context.now)
    context.sign_in(number)
    context.flash(f"Welcome to Commonplace, {fields.values['name']}.")
    return context.redirect("/communities")


@SITE.get("/settings", signed_in=True)
def settings(context: RequestContext) -> Response:
    """Show name, address, biography and the change of password."""
    return ForumFields(context, context.user).page("settings.html")


@SITE.post("/settings", signed_in=True)
def change_settings(context: RequestContext) -> Response:
    """Change name, address and biography."""
    fields = ForumFields(context)
    _read_person(fields)
    fields.text("bio", most=500, least=0)
    if fields.errors:
        return fields.page("settings.html")
    context.update("users", context.user_id, **fields.values)
    context.flash("Your settings are saved.")
    return context.redirect("/settings")


@SITE.post("/settings/password", signed_in=True)
def change_password(context: RequestContext) -> Response:
    """Change the password."""
    assert context.user is not None
    fields = ForumFields(context, context.user)
    password = _read_password(fields)
    if context.field("current") != context.user["password"]:
        fields.errors["current"] = "This is not your password."
    if fields.errors:
        return fields.page("settings.html")
    context.update("users", context.user_id, password=password)
    context.flash("Your password has been changed.")
    return context.redirect("/settings")


@SITE.get("/settings/blocked", signed_in=True)
def blocked(context: RequestContext) -> Response:
    """List whom the user has blocked."""
    rows = context.rows(
        "SELECT u.username, u.name FROM blocked_users b JOIN users u ON u.id = b.blocked_id "
        "WHERE b.user_id = ? ORDER BY u.username",
        context.user_id,
    )
    return context.render("blocked.html", rows=rows)


def _read_person(fields: ForumFields) -> None:
    fields.line("name", "Tell us a name.", most=80)
    email = fields.line("email", least=0, most=120)
    if not _EMAIL.fullmatch(email) or len(email) > 120:
        fields.errors["email"] = "Write a whole address: name@post.test"


def _read_password(fields: ForumFields) -> str:
    password = fields.context.field("password")
    if not 8 <= len(password) <= 200:
        fields.errors["password"] = "Use at least 8 characters, and at most 200."
    if password != fields.context.field("repeat"):
        fields.errors["repeat"] = "The two passwords differ."
    return password
