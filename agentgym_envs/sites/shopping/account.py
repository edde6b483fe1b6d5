"""A customer's account: signing in, opening one, its overview, personal data and password."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.shopping.fields import ShopFields
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.signing_in import add_signing_in
from agentgym_envs.sites.web import RequestContext

add_signing_in(SITE, home="/account")


@SITE.get("/register")
def register(context: RequestContext) -> Response:
    """Show an empty form."""
    return ShopFields(context).page("register.html")


@SITE.post("/register")
def create(context: RequestContext) -> Response:
    """Open an account."""
    fields = ShopFields(context)
    name, email = fields.text("name", "Name"), fields.email()
    password = fields.password("password", "Password")
    if context.form.get("repeat", "") != password:
        fields.errors["repeat"] = "The two passwords differ."
    if context.row("SELECT 1 FROM customers WHERE email = ? COLLATE NOCASE", email):
        fields.errors["email"] = "There is an account with this email address."
    if fields.errors:
        return fields.page("register.html")
    username = email.split("@")[0]
    if context.row("SELECT 1 FROM customers WHERE username = ? COLLATE NOCASE", username):
        username = email
    number = context.insert(
        "customers",
        name=name,
        username=username,
        email=email,
        password=password,
        newsletter=int(context.field("newsletter") == "1"),
        created_at=context.now,
    )
    context.sign_in(number)
    context.flash("Welcome! Your account is ready.")
    return context.redirect("/account")


@SITE.get("/account", signed_in=True)
def dashboard(context: RequestContext) -> Response:
    """Show an overview."""
    return context.render(
        "dashboard.html",
        orders=context.rows(
            "SELECT * FROM orders WHERE customer_id = ? ORDER BY created_at DESC, id DESC LIMIT 3",
            context.user_id,
        ),
        address=context.row(
            "SELECT * FROM addresses WHERE customer_id = ? AND is_default", context.user_id
        ),
    )


@SITE.get("/account/data", signed_in=True)
def data(context: RequestContext) -> Response:
    """Show the form of the personal data."""
    return ShopFields(context, context.user).page("data.html")


@SITE.post("/account/data", signed_in=True)
def save_data(context: RequestContext) -> Response:
    """Change the personal data."""
    fields = ShopFields(context)
    name, email, phone = fields.text("name", "Name"), fields.email(), fields.phone()
    if context.row(
        "SELECT 1 FROM customers WHERE email = ? COLLATE NOCASE AND id != ?", email, context.user_id
    ):
        fields.errors["email"] = "Another account has this email address."
    if fields.errors:
        return fields.page("data.html")
    context.update("customers", context.user_id, name=name, email=email, phone=phone)
    context.flash("Your data were saved.")
    return context.redirect("/account")


@SITE.get("/account/newsletter", signed_in=True)
def newsletter(context: RequestContext) -> Response:
    """Show whether the newsletter is subscribed to."""
    return context.render("newsletter.html")


@SITE.post("/account/newsletter", signed_in=True)
def save_newsletter(context: RequestContext) -> Response:
    """Subscribe to the newsletter, or leave it."""
    is_subscribed = int(context.field("newsletter") == "1")
    context.update("customers", context.user_id, newsletter=is_subscribed)
    context.flash("You are subscribed." if is_subscribed else "You are not subscribed.")
    return context.redirect("/account")


@SITE.get("/account/password", signed_in=True)
def password(context: RequestContext) -> Response:
    """Show the form for a new password."""
    return ShopFields(context).page("password.html")


@SITE.post("/account/password", signed_in=True)
def save_password(context: RequestContext) -> Response:
    """Change the password."""
    assert context.user is not None
    fields = ShopFields(context)
    current = fields.password("current", "Current password", least=1)
    new = fields.password("new", "New password")
    if current and current != context.user["password"]:
        fields.errors["current"] = "This is not your current password."
    if context.form.get("repeat", "") != new:
        fields.errors["repeat"] = "The two new passwords differ."
    if fields.errors:
        return fields.page("password.html")
    context.update("customers", context.user_id, password=new)
    context.flash("Your password was changed.")
    return context.redirect("/account")
