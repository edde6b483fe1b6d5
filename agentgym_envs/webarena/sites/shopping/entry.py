"""Signing in and out, and new accounts."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.shopping.fields import Fields, Texts
from agentgym_envs.webarena.sites.shopping.site import SITE
from agentgym_envs.webarena.sites.signing_in import add_signing_in
from agentgym_envs.webarena.sites.web import Visit

add_signing_in(SITE, home="/account")


@SITE.get("/register")
def register(visit: Visit) -> Response:
    """Show an empty form."""
    return visit.render("register.html", values=Texts(), errors=Texts())


@SITE.post("/register")
def create(visit: Visit) -> Response:
    """Open an account."""
    fields = Fields(visit)
    name, email = fields.text("name", "Name"), fields.email()
    password = fields.password("password", "Password")
    if visit.form.get("repeat", "") != password:
        fields.errors["repeat"] = "The two passwords differ."
    if visit.row("SELECT 1 FROM customers WHERE email = ? COLLATE NOCASE", email) is not None:
        fields.errors["email"] = "There is an account with this email address."
    if not fields.is_valid:
        return visit.render("register.html", status=422, values=fields.values, errors=fields.errors)
    username = email.split("@")[0]
    if visit.row("SELECT 1 FROM customers WHERE username = ? COLLATE NOCASE", username) is not None:
        username = email
    number = visit.run(
        "INSERT INTO customers (name, username, email, password, newsletter, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        *(name, username, email, password, int(visit.field("newsletter") == "1"), visit.now),
    )
    visit.sign_in(number)
    visit.flash("Welcome! Your account is ready.")
    return visit.redirect("/account")
