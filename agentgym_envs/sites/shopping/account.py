"""A customer's account: overview, personal data, newsletter, password."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.shopping.fields import Fields, Texts
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext


@SITE.get("/account", signed_in=True)
def dashboard(context: RequestContext) -> Response:
    """Show an overview."""
    assert context.user is not None
    customer = context.user["id"]
    return context.render(
        "dashboard.html",
        orders=context.rows(
            "SELECT * FROM orders WHERE customer_id = ? ORDER BY created_at DESC, id DESC LIMIT 3",
            customer,
        ),
        address=context.row(
            "SELECT * FROM addresses WHERE customer_id = ? AND is_default", customer
        ),
    )


@SITE.get("/account/data", signed_in=True)
def data(context: RequestContext) -> Response:
    """Show the form of the personal data."""
    assert context.user is not None
    values = {key: context.user[key] for key in ("name", "email", "phone")}
    return context.render("data.html", values=values, errors=Texts())


@SITE.post("/account/data", signed_in=True)
def save_data(context: RequestContext) -> Response:
    """Change the personal data."""
    assert context.user is not None
    fields = Fields(context)
    values = (fields.text("name", "Name"), fields.email(), fields.phone())
    taken = context.row(
        "SELECT 1 FROM customers WHERE email = ? COLLATE NOCASE AND id != ?",
        values[1],
        context.user["id"],
    )
    if taken is not None:
        fields.errors["email"] = "Another account has this email address."
    if not fields.is_valid:
        return context.render("data.html", status=422, values=fields.values, errors=fields.errors)
    context.run(
        "UPDATE customers SET name = ?, email = ?, phone = ? WHERE id = ?",
        *(*values, context.user["id"]),
    )
    context.flash("Your data were saved.")
    return context.redirect("/account")


@SITE.get("/account/newsletter", signed_in=True)
def newsletter(context: RequestContext) -> Response:
    """Show whether the newsletter is subscribed to."""
    return context.render("newsletter.html")


@SITE.post("/account/newsletter", signed_in=True)
def save_newsletter(context: RequestContext) -> Response:
    """Subscribe to the newsletter, or leave it."""
    assert context.user is not None
    is_subscribed = int(context.field("newsletter") == "1")
    context.run(
        "UPDATE customers SET newsletter = ? WHERE id = ?", is_subscribed, context.user["id"]
    )
    context.flash("You are subscribed." if is_subscribed else "You are not subscribed.")
    return context.redirect("/account")


@SITE.get("/account/password", signed_in=True)
def password(context: RequestContext) -> Response:
    """Show the form for a new password."""
    return context.render("password.html", errors=Texts())


@SITE.post("/account/password", signed_in=True)
def save_password(context: RequestContext) -> Response:
    """Change the password."""
    assert context.user is not None
    fields = Fields(context)
    current = fields.password("current", "Current password", least=1)
    new = fields.password("new", "New password")
    if current and current != context.user["password"]:
        fields.errors["current"] = "This is not your current password."
    if context.form.get("repeat", "") != new:
        fields.errors["repeat"] = "The two new passwords differ."
    if not fields.is_valid:
        return context.render("password.html", status=422, errors=fields.errors)
    context.run("UPDATE customers SET password = ? WHERE id = ?", new, context.user["id"])
    context.flash("Your password was changed.")
    return context.redirect("/account")
