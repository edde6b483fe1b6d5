"""Information pages and the contact form."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.shopping.fields import ShopFields
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import NOT_FOUND, RequestContext


@SITE.get("/contact")
def contact(context: RequestContext) -> Response:
    """Show an empty form, with a customer's name and address."""
    return ShopFields(context, context.user).page("contact.html")


@SITE.post("/contact")
def send(context: RequestContext) -> Response:
    """Store a message to the shop."""
    fields = ShopFields(context)
    name, email = fields.text("name", "Name"), fields.email()
    message = fields.text("message", "Message", least=10, most=2000)
    if fields.errors:
        return fields.page("contact.html")
    context.insert(
        "contact_messages", name=name, email=email, message=message, created_at=context.now
    )
    context.flash("Thank you for your message. We answer within two working days.")
    return context.redirect("/contact")


@SITE.get("/page/{key}")
def page(context: RequestContext, key: str) -> Response:
    """Show an information page."""
    row = context.find(NOT_FOUND, "SELECT * FROM pages WHERE url_key = ? AND is_enabled", key)
    paragraphs = [part for part in row["content"].split("\n\n") if part.strip()]
    return context.render("page.html", page=row, paragraphs=paragraphs)
