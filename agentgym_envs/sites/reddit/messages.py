"""Private messages, and notifications of replies."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.reddit.lookup import ForumFields, read_line
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import RequestContext, read_id

_COLUMNS = "m.*, s.username AS sender, r.username AS recipient"
_PEOPLE = "JOIN users s ON s.id = m.from_id JOIN users r ON r.id = m.to_id"


@SITE.get("/messages", signed_in=True)
def inbox(context: RequestContext) -> Response:
    """List the messages that came in."""
    return _box(context, "inbox", "to_id")


@SITE.get("/messages/sent", signed_in=True)
def sent(context: RequestContext) -> Response:
    """List the messages that the user wrote."""
    return _box(context, "sent", "from_id")


def _box(context: RequestContext, box: str, column: str) -> Response:
    listing = Listing(context, "messages m", size=10).where(f"m.{column} = ?", context.user_id)
    rows, pages = listing.rows(_COLUMNS, joined=_PEOPLE, order="m.id DESC")
    return context.render("messages.html", box=box, rows=rows, pages=pages)


@SITE.get("/messages/new", signed_in=True)
def new_message(context: RequestContext) -> Response:
    """Show the empty form, to somebody if the address says to whom."""
    return ForumFields(context, {"to": read_line(context, "to")}).page("message_form.html")


@SITE.post("/messages/new", signed_in=True)
def send_message(context: RequestContext) -> Response:
    """Send a message."""
    fields = ForumFields(context)
    to = fields.line("to", "There is no user of this name.")
    body = fields.text("body", "Write something first.", most=5000)
    recipient = context.row("SELECT * FROM users WHERE username = ?", to)
    if recipient is None:
        fields.errors["to"] = "There is no user of this name."
    elif recipient["id"] == context.user_id:
        fields.errors["to"] = "You cannot write to yourself."
    elif context.row(
        "SELECT 1 FROM blocked_users WHERE user_id = ? AND blocked_id = ?",
        *(context.user_id, recipient["id"]),
    ):
        fields.errors["to"] = "You have blocked this user. Unblock them first."
    if fields.errors or recipient is None:
        return fields.page("message_form.html")
    context.insert(
        "messages",
        from_id=context.user_id,
        to_id=recipient["id"],
        body=body,
        created_at=context.now,
    )
    context.flash(f"Your message to {recipient['username']} is sent.")
    return context.redirect("/messages/sent")


@SITE.get("/messages/{number}", signed_in=True)
def message(context: RequestContext, number: str) -> Response:
    """Show a message and mark it as read."""
    row = context.find(
        "There is no such message.",
        f"SELECT {_COLUMNS} FROM messages m {_PEOPLE} WHERE m.id = ? AND ? IN (m.to_id, m.from_id)",
        *(read_id(number), context.user_id),
    )
    if row["to_id"] == context.user_id:
        context.update("messages", row["id"], is_read=1)
    return context.render("message.html", message=row)


@SITE.get("/notifications", signed_in=True)
def notifications(context: RequestContext) -> Response:
    """List the replies that the user got."""
    listing = Listing(context, "notifications n", size=10).where("n.user_id = ?", context.user_id)
    rows, pages = listing.rows(
        "n.is_read, c.id, c.body, c.parent_id, c.created_at, u.username AS author, p.title",
        joined="JOIN comments c ON c.id = n.comment_id "
        "JOIN users u ON u.id = c.user_id JOIN posts p ON p.id = c.post_id",
        order="n.id DESC",
    )
    return context.render("notifications.html", rows=rows, pages=pages)


@SITE.post("/notifications/read", signed_in=True)
def read_notifications(context: RequestContext) -> Response:
    """Mark all notifications as read."""
    context.run("UPDATE notifications SET is_read = 1 WHERE user_id = ?", context.user_id)
    context.flash("All notifications are marked as read.")
    return context.redirect("/notifications")
