"""Information pages and the contact form."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.shopping.fields import Fields, Texts
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext


@SITE.get("/contact")
def contact(context: RequestContext) -> Response:
    """Show an empty form; a customer's name and address are filled in."""
    user = context.user
    values = Texts() if user is None else Texts(name=user["name"], email=user["email"])
    return context.render("contact.html", values=values, errors=Texts())


@SITE.post("/contact")
def send(context: RequestContext) -> Response:
    """Store a message to the shop."""
    fields = Fields(context)
    values = (
        fields.text("name", "Name"),
        fields.email(),
        fields.text("message", "Message", least=10, most=2000),
    )
    if not fields.is_valid:
        return context.render(
            "contact.html", status=422, values=fields.values, errors=fields.errors
        )
    context.run(
        "INSERT INTO contact_messages (name, email, message, created_at) VALUES (?, ?, ?, ?)",
        *(*values, context.now),
    )
    context.flash("Thank you for your message. We answer within two working days.")
    return context.redirect("/contact")


@SITE.get("/page/{key}")
def page(context: RequestContext, key: str) -> Response:
    """Show an information page."""
    row = context.row("SELECT * FROM pages WHERE url_key = ? AND is_enabled", key)
    if row is None:
        raise NotFound()
    paragraphs = [part for part in row["content"].split("\n\n") if part.strip()]
    return context.render("page.html", page=row, paragraphs=paragraphs)
