"""Profiles: a user's posts and comments, and blocking users."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.reddit.listing import SORTS, list_posts
from agentgym_envs.sites.reddit.lookup import find_user
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import Forbidden, RequestContext

_COLUMNS = "c.*, p.title, f.title AS forum_title"
_PLACE = "JOIN posts p ON p.id = c.post_id JOIN forums f ON f.id = p.forum_id"


@SITE.get("/u/{username}")
def profile(context: RequestContext, username: str) -> Response:
    """Show a user: numbers, and newest posts and comments."""
    person = find_user(context, username)
    listing = list_posts(context, "p.user_id = ?", person["id"], sort="new")
    comments = context.rows(
        f"SELECT {_COLUMNS} FROM comments c {_PLACE} "
        "WHERE c.user_id = ? AND NOT c.is_deleted ORDER BY c.id DESC LIMIT 5",
        person["id"],
    )
    return _render(
        context, person, "overview", posts=listing.posts[:5], comments=comments, pages=None
    )


@SITE.get("/u/{username}/posts")
def profile_posts(context: RequestContext, username: str) -> Response:
    """List somebody's posts."""
    person = find_user(context, username)
    listing = list_posts(context, "p.user_id = ?", person["id"], default="new")
    return _render(
        context,
        person,
        "posts",
        posts=listing.posts,
        comments=[],
        pages=listing.pages,
        sorts=SORTS,
        sort=listing.sort,
    )


@SITE.get("/u/{username}/comments")
def profile_comments(context: RequestContext, username: str) -> Response:
    """List somebody's comments."""
    person = find_user(context, username)
    sort = "top" if context.field("sort") == "top" else "new"
    order = "c.score DESC, c.id DESC" if sort == "top" else "c.id DESC"
    listing = Listing(context, "comments c", size=10)
    listing.where("c.user_id = ? AND NOT c.is_deleted", person["id"])
    comments, pages = listing.rows(_COLUMNS, joined=_PLACE, order=order)
    return _render(
        context,
        person,
        "comments",
        posts=[],
        comments=comments,
        pages=pages,
        sorts={"new": "New", "top": "Top"},
        sort=sort,
    )


@SITE.post("/u/{username}/block", signed_in=True)
def block(context: RequestContext, username: str) -> Response:
    """Block somebody, or stop.

    Raises:
        Forbidden: the user is the visitor.
    """
    person = find_user(context, username)
    if person["id"] == context.user_id:
        raise Forbidden("You cannot block yourself.")
    if context.field("value") == "1":
        context.run(
            "INSERT OR IGNORE INTO blocked_users VALUES (?, ?)", context.user_id, person["id"]
        )
        context.flash(f"{person['username']} is blocked: their posts leave your front page.")
    else:
        context.run(
            "DELETE FROM blocked_users WHERE user_id = ? AND blocked_id = ?",
            context.user_id,
            person["id"],
        )
        context.flash(f"{person['username']} is no longer blocked.")
    return context.redirect(context.way_back(f"/u/{person['username']}"))


def _render(context: RequestContext, person: sqlite3.Row, tab: str, **variables: Any) -> Response:
    numbers = context.row(
        "SELECT (SELECT count(*) FROM posts WHERE user_id = u.id) AS posts, "
        "(SELECT count(*) FROM comments WHERE user_id = u.id AND NOT is_deleted) AS comments, "
        "(SELECT coalesce(sum(score), 0) FROM posts WHERE user_id = u.id) + "
        "(SELECT coalesce(sum(score), 0) FROM comments WHERE user_id = u.id AND NOT is_deleted) "
        "AS karma, EXISTS (SELECT 1 FROM blocked_users WHERE user_id = ? AND blocked_id = u.id) "
        "AS is_blocked FROM users u WHERE u.id = ?",
        context.user_id,
        person["id"],
    )
    moderated = context.rows(
        "SELECT f.name, f.title FROM moderators m JOIN forums f ON f.id = m.forum_id "
        "WHERE m.user_id = ? ORDER BY f.title",
        person["id"],
    )
    return context.render(
        "profile.html", person=person, numbers=numbers, moderated=moderated, tab=tab, **variables
    )
