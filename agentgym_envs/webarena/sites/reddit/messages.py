"""Private messages, and notifications of replies."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.webarena.sites.paging import Pages
from agentgym_envs.webarena.sites.reddit.lookup import line_of, me, too_long, typed, whole
from agentgym_envs.webarena.sites.reddit.site import SITE
from agentgym_envs.webarena.sites.web import NotFound, Visit

_MESSAGES = (
    "SELECT m.*, s.username AS sender, r.username AS recipient FROM messages m "
    "JOIN users s ON s.id = m.from_id JOIN users r ON r.id = m.to_id "
)


@SITE.get("/messages", signed_in=True)
def inbox(visit: Visit) -> Response:
    """List the messages that came in."""
    return _box(visit, "inbox", "to_id")


@SITE.get("/messages/sent", signed_in=True)
def sent(visit: Visit) -> Response:
    """List the messages that the user wrote."""
    return _box(visit, "sent", "from_id")


def _box(visit: Visit, box: str, column: str) -> Response:
    total = visit.value(f"SELECT count(*) FROM messages WHERE {column} = ?", me(visit))
    pages = Pages.of(visit, total, 10)
    found = visit.rows(
        f"{_MESSAGES} WHERE m.{column} = ? ORDER BY m.id DESC "
        f"LIMIT {pages.size} OFFSET {pages.offset}",
        me(visit),
    )
    return visit.render("messages.html", box=box, found=found, pages=pages)


@SITE.get("/messages/new", signed_in=True)
def new_message(visit: Visit) -> Response:
    """Show the empty form, to somebody if the address says to whom."""
    return _form(visit, {"to": line_of(visit, "to"), "body": ""}, {})


@SITE.post("/messages/new", signed_in=True)
def send_message(visit: Visit) -> Response:
    """Send a message."""
    values = {"to": line_of(visit, "to"), "body": typed(visit, "body")}
    wrong = {}
    recipient = visit.row("SELECT * FROM users WHERE username = ?", values["to"])
    if recipient is None:
        wrong["to"] = "There is no user of this name."
    elif recipient["id"] == me(visit):
        wrong["to"] = "You cannot write to yourself."
    elif _is_blocked(visit, recipient):
        wrong["to"] = "You have blocked this user. Unblock them first."
    fault = too_long(values["body"], 5000) if values["body"] else "Write something first."
    if fault:
        wrong["body"] = fault
    if wrong or recipient is None:
        return _form(visit, values, wrong)
    visit.run(
        "INSERT INTO messages (from_id, to_id, body, created_at) VALUES (?, ?, ?, ?)",
        me(visit),
        recipient["id"],
        values["body"],
        visit.now,
    )
    visit.flash(f"Your message to {recipient['username']} is sent.")
    return visit.redirect("/messages/sent")


@SITE.get("/messages/{number}", signed_in=True)
def message(visit: Visit, number: str) -> Response:
    """Show a message; it counts as read from then on."""
    row = visit.row(
        _MESSAGES + "WHERE m.id = ? AND ? IN (m.to_id, m.from_id)", whole(number), me(visit)
    )
    if row is None:
        raise NotFound("There is no such message.")
    if row["to_id"] == me(visit):
        visit.run("UPDATE messages SET is_read = 1 WHERE id = ?", row["id"])
    return visit.render("message.html", message=row)


@SITE.get("/notifications", signed_in=True)
def notifications(visit: Visit) -> Response:
    """List the replies that the user got."""
    total = visit.value("SELECT count(*) FROM notifications WHERE user_id = ?", me(visit))
    pages = Pages.of(visit, total, 10)
    found = visit.rows(
        "SELECT n.is_read, c.id, c.body, c.parent_id, c.created_at, u.username AS author, p.title "
        "FROM notifications n JOIN comments c ON c.id = n.comment_id "
        "JOIN users u ON u.id = c.user_id JOIN posts p ON p.id = c.post_id WHERE n.user_id = ? "
        f"ORDER BY n.id DESC LIMIT {pages.size} OFFSET {pages.offset}",
        me(visit),
    )
    return visit.render("notifications.html", found=found, pages=pages)


@SITE.post("/notifications/read", signed_in=True)
def read_notifications(visit: Visit) -> Response:
    """Mark all notifications as read."""
    visit.run("UPDATE notifications SET is_read = 1 WHERE user_id = ?", me(visit))
    visit.flash("All notifications are marked as read.")
    return visit.redirect("/notifications")


def _is_blocked(visit: Visit, person: sqlite3.Row) -> bool:
    found = visit.row(
        "SELECT 1 FROM blocked_users WHERE user_id = ? AND blocked_id = ?", me(visit), person["id"]
    )
    return found is not None


def _form(visit: Visit, values: dict[str, str], wrong: dict[str, str]) -> Response:
    return visit.render(
        "message_form.html", status=422 if wrong else 200, values=values, wrong=wrong
    )
