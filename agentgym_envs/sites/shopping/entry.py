"""Signing in and out, and new accounts."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.shopping.fields import Fields, Texts
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.signing_in import add_signing_in
from agentgym_envs.sites.web import RequestContext

add_signing_in(SITE, home="/account")


@SITE.get("/register")
def register(context: RequestContext) -> Response:
    """Show an empty form."""
    return context.render("register.html", values=Texts(), errors=Texts())


@SITE.post("/register")
def create(context: RequestContext) -> Response:
    """Open an account."""
    fields = Fields(context)
    name, email = fields.text("name", "Name"), fields.email()
    password = fields.password("password", "Password")
    if context.form.get("repeat", "") != password:
        fields.errors["repeat"] = "The two passwords differ."
    if context.row("SELECT 1 FROM customers WHERE email = ? COLLATE NOCASE", email) is not None:
        fields.errors["email"] = "There is an account with this email address."
    if not fields.is_valid:
        return context.render(
            "register.html", status=422, values=fields.values, errors=fields.errors
        )
    username = email.split("@")[0]
    if (
        context.row("SELECT 1 FROM customers WHERE username = ? COLLATE NOCASE", username)
        is not None
    ):
        username = email
    number = context.run(
        "INSERT INTO customers (name, username, email, password, newsletter, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        *(name, username, email, password, int(context.field("newsletter") == "1"), context.now),
    )
    context.sign_in(number)
    context.flash("Welcome! Your account is ready.")
    return context.redirect("/account")
