"""Signing in and out."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.gitlab.site import SITE
from agentgym_envs.webarena.sites.web import Visit


@SITE.get("/login")
def login_form(visit: Visit) -> Response:
    """Ask who is there."""
    return visit.render("login.html", error="", name="", next=_next(visit))


@SITE.post("/login")
def login(visit: Visit) -> Response:
    """Sign in with a user name or e-mail address."""
    name = visit.field("name")
    found = visit.row(
        "SELECT id, password FROM users WHERE username = ? OR email = ?", name.lower(), name.lower()
    )
    if found is None or found["password"] != visit.form.get("password", ""):
        error = "This user name and password do not belong together."
        return visit.render("login.html", status=422, error=error, name=name, next=_next(visit))
    visit.sign_in(found["id"])
    visit.flash("You are signed in.")
    return visit.redirect(_next(visit))


@SITE.post("/logout")
def logout(visit: Visit) -> Response:
    """Sign out."""
    visit.sign_out()
    return visit.redirect("/login")


def _next(visit: Visit) -> str:
    path = visit.field("next")
    # Only within this site: neither //host nor /\host nor another scheme.
    is_local = path.startswith("/") and path[1:2] not in ("/", "\\") and path.isprintable()
    return path if is_local and path.isascii() else "/"
