"""Private messages, and notifications of replies."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.reddit.lookup import line_of, me, too_long, typed, whole
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

_MESSAGES = (
    "SELECT m.*, s.username AS sender, r.username AS recipient FROM messages m "
    "JOIN users s ON s.id = m.from_id JOIN users r ON r.id = m.to_id "
)


@SITE.get("/messages", signed_in=True)
def inbox(context: RequestContext) -> Response:
    """List the messages that came in."""
    return _box(context, "inbox", "to_id")


@SITE.get("/messages/sent", signed_in=True)
def sent(context: RequestContext) -> Response:
    """List the messages that the user wrote."""
    return _box(context, "sent", "from_id")


def _box(context: RequestContext, box: str, column: str) -> Response:
    total = context.value(f"SELECT count(*) FROM messages WHERE {column} = ?", me(context))
    pages = Pages.of(context, total, 10)
    rows = context.rows(
        f"{_MESSAGES} WHERE m.{column} = ? ORDER BY m.id DESC "
        f"LIMIT {pages.size} OFFSET {pages.offset}",
        me(context),
    )
    return context.render("messages.html", box=box, rows=rows, pages=pages)


@SITE.get("/messages/new", signed_in=True)
def new_message(context: RequestContext) -> Response:
    """Show the empty form, to somebody if the address says to whom."""
    return _form(context, {"to": line_of(context, "to"), "body": ""}, {})


@SITE.post("/messages/new", signed_in=True)
def send_message(context: RequestContext) -> Response:
    """Send a message."""
    values = {"to": line_of(context, "to"), "body": typed(context, "body")}
    wrong = {}
    recipient = context.row("SELECT * FROM users WHERE username = ?", values["to"])
    if recipient is None:
        wrong["to"] = "There is no user of this name."
    elif recipient["id"] == me(context):
        wrong["to"] = "You cannot write to yourself."
    elif _is_blocked(context, recipient):
        wrong["to"] = "You have blocked this user. Unblock them first."
    fault = too_long(values["body"], 5000) if values["body"] else "Write something first."
    if fault:
        wrong["body"] = fault
    if wrong or recipient is None:
        return _form(context, values, wrong)
    context.run(
        "INSERT INTO messages (from_id, to_id, body, created_at) VALUES (?, ?, ?, ?)",
        me(context),
        recipient["id"],
        values["body"],
        context.now,
    )
    context.flash(f"Your message to {recipient['username']} is sent.")
    return context.redirect("/messages/sent")


@SITE.get("/messages/{number}", signed_in=True)
def message(context: RequestContext, number: str) -> Response:
    """Show a message; it counts as read from then on."""
    row = context.row(
        _MESSAGES + "WHERE m.id = ? AND ? IN (m.to_id, m.from_id)", whole(number), me(context)
    )
    if row is None:
        raise NotFound("There is no such message.")
    if row["to_id"] == me(context):
        context.run("UPDATE messages SET is_read = 1 WHERE id = ?", row["id"])
    return context.render("message.html", message=row)


@SITE.get("/notifications", signed_in=True)
def notifications(context: RequestContext) -> Response:
    """List the replies that the user got."""
    total = context.value("SELECT count(*) FROM notifications WHERE user_id = ?", me(context))
    pages = Pages.of(context, total, 10)
    rows = context.rows(
        "SELECT n.is_read, c.id, c.body, c.parent_id, c.created_at, u.username AS author, p.title "
        "FROM notifications n JOIN comments c ON c.id = n.comment_id "
        "JOIN users u ON u.id = c.user_id JOIN posts p ON p.id = c.post_id WHERE n.user_id = ? "
        f"ORDER BY n.id DESC LIMIT {pages.size} OFFSET {pages.offset}",
        me(context),
    )
    return context.render("notifications.html", rows=rows, pages=pages)


@SITE.post("/notifications/read", signed_in=True)
def read_notifications(context: RequestContext) -> Response:
    """Mark all notifications as read."""
    context.run("UPDATE notifications SET is_read = 1 WHERE user_id = ?", me(context))
    context.flash("All notifications are marked as read.")
    return context.redirect("/notifications")


def _is_blocked(context: RequestContext, person: sqlite3.Row) -> bool:
    row = context.row(
        "SELECT 1 FROM blocked_users WHERE user_id = ? AND blocked_id = ?",
        me(context),
        person["id"],
    )
    return row is not None


def _form(context: RequestContext, values: dict[str, str], wrong: dict[str, str]) -> Response:
    return context.render(
        "message_form.html", status=422 if wrong else 200, values=values, wrong=wrong
    )
