"""Signing in and out, and new accounts."""

from __future__ import annotations

import re

from starlette.responses import Response

from agentgym_envs.webarena.sites.shopping.fields import Fields, Texts
from agentgym_envs.webarena.sites.shopping.site import SITE
from agentgym_envs.webarena.sites.web import Visit


@SITE.get("/login")
def login(visit: Visit) -> Response:
    """Show the form, or go on if the visitor is signed in already."""
    if visit.user is not None:
        return visit.redirect(_next(visit))
    return visit.render("login.html", values=Texts(), error="", next=_next(visit))


@SITE.post("/login")
def sign_in(visit: Visit) -> Response:
    """Sign a customer in by e-mail address or user name."""
    name = visit.field("name")
    row = visit.row("SELECT * FROM customers WHERE email = ? OR username = ?", name, name)
    if row is None or row["password"] != visit.form.get("password", ""):
        error = "The name or the password is wrong."
        return visit.render(
            "login.html", status=422, values={"name": name}, error=error, next=_next(visit)
        )
    visit.sign_in(row["id"])
    return visit.redirect(_next(visit))


@SITE.post("/logout")
def sign_out(visit: Visit) -> Response:
    """Sign the customer out."""
    visit.sign_out()
    visit.flash("You are signed out.")
    return visit.redirect("/")


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
    if visit.row("SELECT 1 FROM customers WHERE email = ?", email) is not None:
        fields.errors["email"] = "There is an account with this email address."
    if not fields.is_valid:
        return visit.render("register.html", status=422, values=fields.values, errors=fields.errors)
    username = email.split("@")[0]
    if visit.row("SELECT 1 FROM customers WHERE username = ?", username) is not None:
        username = email
    number = visit.run(
        "INSERT INTO customers (name, username, email, password, newsletter, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        *(name, username, email, password, int(visit.field("newsletter") == "1"), visit.now),
    )
    visit.sign_in(number)
    visit.flash("Welcome! Your account is ready.")
    return visit.redirect("/account")


def _next(visit: Visit) -> str:
    """Return where to go after signing in: a path of this site, whatever the address says."""
    path = visit.field("next")
    return path if re.fullmatch(r"/(?![/\\])[\x21-\x7e]*", path) else "/account"
