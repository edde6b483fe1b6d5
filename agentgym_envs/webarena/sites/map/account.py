"""Signing in and out."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.map.site import SITE
from agentgym_envs.webarena.sites.people import PASSWORD
from agentgym_envs.webarena.sites.web import Visit


@SITE.get("/login")
def login_form(visit: Visit) -> Response:
    """Ask for name and password."""
    return visit.render("login.html", errors={}, username="", next=_next(visit))


@SITE.post("/login")
def login(visit: Visit) -> Response:
    """Sign a user in who knows the password."""
    username, password = visit.field("username"), visit.field("password")
    user = visit.row("SELECT id FROM users WHERE username = ?1 OR email = ?1", username.lower())
    errors = {}
    if not username:
        errors["username"] = "Enter your user name."
    elif user is None or password != PASSWORD:
        errors["password"] = "User name and password do not match."
    if user is None or errors:
        return visit.render(
            "login.html", status=422, errors=errors, username=username, next=_next(visit)
        )
    visit.sign_in(user["id"])
    return visit.redirect(_next(visit))


@SITE.post("/logout")
def logout(visit: Visit) -> Response:
    """Sign the user out."""
    visit.sign_out()
    return visit.redirect("/")


def _next(visit: Visit) -> str:
    """Return where to go afterwards: a page of this site, whatever the address says."""
    path = visit.field("next")
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path
    return path if is_local and path.isprintable() else "/"
