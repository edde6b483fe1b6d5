"""Information pages and the contact form."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.shopping.fields import Fields, Texts
from agentgym_envs.webarena.sites.shopping.site import SITE
from agentgym_envs.webarena.sites.web import NotFound, Visit


@SITE.get("/contact")
def contact(visit: Visit) -> Response:
    """Show an empty form; a customer's name and address are filled in."""
    user = visit.user
    values = Texts() if user is None else Texts(name=user["name"], email=user["email"])
    return visit.render("contact.html", values=values, errors=Texts())


@SITE.post("/contact")
def send(visit: Visit) -> Response:
    """Store a message to the shop."""
    fields = Fields(visit)
    values = (
        fields.text("name", "Name"),
        fields.email(),
        fields.text("message", "Message", least=10, most=2000),
    )
    if not fields.is_valid:
        return visit.render("contact.html", status=422, values=fields.values, errors=fields.errors)
    visit.run(
        "INSERT INTO contact_messages (name, email, message, created_at) VALUES (?, ?, ?, ?)",
        *(*values, visit.now),
    )
    visit.flash("Thank you for your message. We answer within two working days.")
    return visit.redirect("/contact")


@SITE.get("/page/{key}")
def page(visit: Visit, key: str) -> Response:
    """Show an information page."""
    row = visit.row("SELECT * FROM pages WHERE url_key = ? AND is_enabled", key)
    if row is None:
        raise NotFound()
    paragraphs = [part for part in row["content"].split("\n\n") if part.strip()]
    return visit.render("page.html", page=row, paragraphs=paragraphs)
