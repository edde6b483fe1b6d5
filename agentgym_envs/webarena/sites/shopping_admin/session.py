"""Signing in and out of the administration."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.shopping_admin.site import SITE
from agentgym_envs.webarena.sites.web import Visit


def own_path(text: str, default: str = "/") -> str:
    """Return a path of this site as it is, and `default` for every other address."""
    is_own = text.startswith("/") and not text.startswith(("//", "/\\"))
    return text if is_own and text.isascii() and text.isprintable() else default


@SITE.get("/login")
def login(visit: Visit) -> Response:
    """Show the form."""
    if visit.user is not None:
        return visit.redirect("/")
    return visit.render("login.html", username="", after=own_path(visit.field("next")), errors={})


@SITE.post("/login")
def enter(visit: Visit) -> Response:
    """Check user name and password."""
    username, after = visit.field("username"), own_path(visit.field("next"))
    errors = {}
    if not username:
        errors["username"] = "User name is required."
    if not visit.form.get("password"):
        errors["password"] = "Password is required."
    if errors:
        return visit.render("login.html", username=username, after=after, errors=errors)
    found = visit.row("SELECT * FROM admins WHERE username = ? OR email = ?", username, username)
    if found is None or found["password"] != visit.form["password"]:
        errors["password"] = "The user name or the password is not correct."
    elif not found["is_active"]:
        errors["username"] = "This account is not active."
    if errors or found is None:
        return visit.render("login.html", username=username, after=after, errors=errors)
    visit.sign_in(found["id"])
    return visit.redirect(after)


@SITE.post("/logout", signed_in=True)
def leave(visit: Visit) -> Response:
    """End the session."""
    visit.sign_out()
    visit.flash("You have signed out.", "notice")
    return visit.redirect("/login")
