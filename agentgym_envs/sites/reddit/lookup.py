"""Looks up an address's rows and reads typed text."""

from __future__ import annotations

import sqlite3

from agentgym_envs.sites.forms import Fields
from agentgym_envs.sites.web import Forbidden, RequestContext, read_id

_CONTROLS = {code: None for code in range(32) if code != ord("\n")}


class ForumFields(Fields):
    """The fields of a posted form of the forum."""

    required = "{label}"
    too_long = "Use at most {most} characters; these are {length}."

    def clean(self, text: str) -> str:
        """Return a text with one kind of line ends and without other control characters."""
        return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS).strip()


def read_line(context: RequestContext, name: str) -> str:
    """Return the text of a one-line field."""
    return ForumFields(context).line(name)


def find_forum(context: RequestContext, name: str) -> sqlite3.Row:
    """Return a community by its name.

    Raises:
        NotFound: there is none.
    """
    return context.find(
        "There is no such community.",
        "SELECT f.*, u.username AS creator, "
        "(SELECT count(*) FROM subscriptions s WHERE s.forum_id = f.id) AS members, "
        "(SELECT count(*) FROM posts p WHERE p.forum_id = f.id) AS posts, "
        "EXISTS (SELECT 1 FROM subscriptions s WHERE s.forum_id = f.id AND s.user_id = ?) "
        "AS is_subscribed, "
        "EXISTS (SELECT 1 FROM moderators m WHERE m.forum_id = f.id AND m.user_id = ?) "
        "AS is_moderated FROM forums f JOIN users u ON u.id = f.created_by WHERE f.name = ?",
        *(context.user_id, context.user_id, name),
    )


def find_post(context: RequestContext, number: str) -> sqlite3.Row:
    """Return a post with its author, its community and the user's vote.

    Raises:
        NotFound: there is none.
    """
    return context.find(
        "There is no such post; it may have been removed.",
        "SELECT p.*, f.name AS forum, f.title AS forum_title, u.username AS author, "
        "coalesce(v.value, 0) AS vote, s.post_id IS NOT NULL AS is_saved "
        "FROM posts p JOIN forums f ON f.id = p.forum_id JOIN users u ON u.id = p.user_id "
        "LEFT JOIN post_votes v ON v.post_id = p.id AND v.user_id = ? "
        "LEFT JOIN saved_posts s ON s.post_id = p.id AND s.user_id = ? WHERE p.id = ?",
        *(context.user_id, context.user_id, read_id(number)),
    )


def find_comment(context: RequestContext, number: str) -> sqlite3.Row:
    """Return a comment with its author, its post's title and the user's vote.

    Raises:
        NotFound: there is none.
    """
    return context.find(
        "There is no such comment; it may have been removed.",
        "SELECT c.*, u.username AS author, p.title, p.is_locked, coalesce(v.value, 0) AS vote "
        "FROM comments c JOIN users u ON u.id = c.user_id JOIN posts p ON p.id = c.post_id "
        "LEFT JOIN comment_votes v ON v.comment_id = c.id AND v.user_id = ? WHERE c.id = ?",
        *(context.user_id, read_id(number)),
    )


def find_user(context: RequestContext, username: str) -> sqlite3.Row:
    """Return a user by name.

    Raises:
        NotFound: there is none.
    """
    return context.find(
        "There is no such user.", "SELECT * FROM users WHERE username = ?", username
    )


def own(context: RequestContext, row: sqlite3.Row) -> sqlite3.Row:
    """Return a post or comment, where the user wrote it.

    Raises:
        Forbidden: it is somebody else's.
    """
    if row["user_id"] != context.user_id:
        raise Forbidden("Only its author can change this.")
    return row
