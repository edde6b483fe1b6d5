"""Finds the rows that an address names, and reads what people type."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException

from agentgym_envs.sites.web import NotFound, RequestContext

_CONTROLS = {code: None for code in range(32) if code != ord("\n")}


class Forbidden(HTTPException):
    """The user may not do this."""

    def __init__(self, detail: str) -> None:
        super().__init__(403, detail)


def whole(text: str) -> int:
    """Read an id out of an address.

    Raises:
        NotFound: it is none.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise NotFound
    return int(text)


def me(context: RequestContext) -> int:
    """Return the signed-in user's id, or 0."""
    return context.user["id"] if context.user is not None else 0


def pattern(text: str) -> str:
    """Write the pattern of `LIKE ... ESCAPE '!'` for texts that hold this one."""
    for sign in "!%_":
        text = text.replace(sign, f"!{sign}")
    return f"%{text}%"


def named(context: RequestContext, sql: str, values: Mapping[str, Any]) -> list[sqlite3.Row]:
    """Return all rows of a query whose parameters have names."""
    return context.db.execute(sql, values).fetchall()


def forum_of(context: RequestContext, name: str) -> sqlite3.Row:
    """Return a community by its name.

    Raises:
        NotFound: there is none.
    """
    row = named(
        context,
        "SELECT f.*, u.username AS creator, "
        "(SELECT count(*) FROM subscriptions s WHERE s.forum_id = f.id) AS members, "
        "(SELECT count(*) FROM posts p WHERE p.forum_id = f.id) AS posts, "
        "EXISTS (SELECT 1 FROM subscriptions s WHERE s.forum_id = f.id AND s.user_id = :me) "
        "AS is_subscribed, "
        "EXISTS (SELECT 1 FROM moderators m WHERE m.forum_id = f.id AND m.user_id = :me) "
        "AS is_moderated FROM forums f JOIN users u ON u.id = f.created_by WHERE f.name = :name",
        {"name": name, "me": me(context)},
    )
    if not row:
        raise NotFound("There is no such community.")
    return row[0]


def post_of(context: RequestContext, number: str) -> sqlite3.Row:
    """Return a post with its author, its community and the user's vote.

    Raises:
        NotFound: there is none.
    """
    row = named(
        context,
        "SELECT p.*, f.name AS forum, f.title AS forum_title, u.username AS author, "
        "coalesce(v.value, 0) AS vote, s.post_id IS NOT NULL AS is_saved "
        "FROM posts p JOIN forums f ON f.id = p.forum_id JOIN users u ON u.id = p.user_id "
        "LEFT JOIN post_votes v ON v.post_id = p.id AND v.user_id = :me "
        "LEFT JOIN saved_posts s ON s.post_id = p.id AND s.user_id = :me WHERE p.id = :id",
        {"id": whole(number), "me": me(context)},
    )
    if not row:
        raise NotFound("There is no such post; it may have been removed.")
    return row[0]


def comment_of(context: RequestContext, number: str) -> sqlite3.Row:
    """Return a comment with its author, its post's title and the user's vote.

    Raises:
        NotFound: there is none.
    """
    row = named(
        context,
        "SELECT c.*, u.username AS author, p.title, p.is_locked, coalesce(v.value, 0) AS vote "
        "FROM comments c JOIN users u ON u.id = c.user_id JOIN posts p ON p.id = c.post_id "
        "LEFT JOIN comment_votes v ON v.comment_id = c.id AND v.user_id = :me WHERE c.id = :id",
        {"id": whole(number), "me": me(context)},
    )
    if not row:
        raise NotFound("There is no such comment; it may have been removed.")
    return row[0]


def user_of(context: RequestContext, username: str) -> sqlite3.Row:
    """Return a user by name.

    Raises:
        NotFound: there is none.
    """
    row = context.row("SELECT * FROM users WHERE username = ?", username)
    if row is None:
        raise NotFound("There is no such user.")
    return row


def own(context: RequestContext, row: sqlite3.Row) -> None:
    """Let only the author through.

    Raises:
        Forbidden: the post or comment is somebody else's.
    """
    if row["user_id"] != me(context):
        raise Forbidden("Only its author can change this.")


def typed(context: RequestContext, name: str) -> str:
    """Return what was typed into a field: browsers' line ends made one, other controls left out."""
    text = context.field(name).replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_CONTROLS).strip()


def line_of(context: RequestContext, name: str) -> str:
    """Return what was typed into a field of one line."""
    return " ".join(typed(context, name).split())


def too_long(text: str, most: int) -> str:
    """Say that a text is too long, or return ""."""
    return f"Use at most {most} characters; these are {len(text)}." if len(text) > most else ""


def faults(**errors: str) -> dict[str, str]:
    """Keep what is wrong with which field."""
    return {name: text for name, text in errors.items() if text}
