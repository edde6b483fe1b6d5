"""A customer's account: overview, personal data, newsletter, password."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.shopping.fields import Fields, Texts
from agentgym_envs.webarena.sites.shopping.site import SITE
from agentgym_envs.webarena.sites.web import Visit


@SITE.get("/account", signed_in=True)
def dashboard(visit: Visit) -> Response:
    """Show an overview."""
    assert visit.user is not None
    customer = visit.user["id"]
    return visit.render(
        "dashboard.html",
        orders=visit.rows(
            "SELECT * FROM orders WHERE customer_id = ? ORDER BY created_at DESC, id DESC LIMIT 3",
            customer,
        ),
        address=visit.row("SELECT * FROM addresses WHERE customer_id = ? AND is_default", customer),
    )


@SITE.get("/account/data", signed_in=True)
def data(visit: Visit) -> Response:
    """Show the form of the personal data."""
    assert visit.user is not None
    values = {key: visit.user[key] for key in ("name", "email", "phone")}
    return visit.render("data.html", values=values, errors=Texts())


@SITE.post("/account/data", signed_in=True)
def save_data(visit: Visit) -> Response:
    """Change the personal data."""
    assert visit.user is not None
    fields = Fields(visit)
    values = (fields.text("name", "Name"), fields.email(), fields.phone())
    taken = visit.row(
        "SELECT 1 FROM customers WHERE email = ? COLLATE NOCASE AND id != ?",
        values[1],
        visit.user["id"],
    )
    if taken is not None:
        fields.errors["email"] = "Another account has this email address."
    if not fields.is_valid:
        return visit.render("data.html", status=422, values=fields.values, errors=fields.errors)
    visit.run(
        "UPDATE customers SET name = ?, email = ?, phone = ? WHERE id = ?",
        *(*values, visit.user["id"]),
    )
    visit.flash("Your data were saved.")
    return visit.redirect("/account")


@SITE.get("/account/newsletter", signed_in=True)
def newsletter(visit: Visit) -> Response:
    """Show whether the newsletter is subscribed to."""
    return visit.render("newsletter.html")


@SITE.post("/account/newsletter", signed_in=True)
def save_newsletter(visit: Visit) -> Response:
    """Subscribe to the newsletter, or leave it."""
    assert visit.user is not None
    wanted = int(visit.field("newsletter") == "1")
    visit.run("UPDATE customers SET newsletter = ? WHERE id = ?", wanted, visit.user["id"])
    visit.flash("You are subscribed." if wanted else "You are not subscribed.")
    return visit.redirect("/account")


@SITE.get("/account/password", signed_in=True)
def password(visit: Visit) -> Response:
    """Show the form for a new password."""
    return visit.render("password.html", errors=Texts())


@SITE.post("/account/password", signed_in=True)
def save_password(visit: Visit) -> Response:
    """Change the password."""
    assert visit.user is not None
    fields = Fields(visit)
    current = fields.password("current", "Current password", least=1)
    new = fields.password("new", "New password")
    if current and current != visit.user["password"]:
        fields.errors["current"] = "This is not your current password."
    if visit.form.get("repeat", "") != new:
        fields.errors["repeat"] = "The two new passwords differ."
    if not fields.is_valid:
        return visit.render("password.html", status=422, errors=fields.errors)
    visit.run("UPDATE customers SET password = ? WHERE id = ?", new, visit.user["id"])
    visit.flash("Your password was changed.")
    return visit.redirect("/account")
