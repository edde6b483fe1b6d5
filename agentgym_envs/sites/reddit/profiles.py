"""Profiles: what somebody wrote, and blocking them."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.reddit.listing import SORTS, list_posts
from agentgym_envs.sites.reddit.lookup import Forbidden, me, user_of
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import RequestContext

_WRITTEN = (
    "SELECT c.*, p.title, f.title AS forum_title FROM comments c "
    "JOIN posts p ON p.id = c.post_id JOIN forums f ON f.id = p.forum_id "
    "WHERE c.user_id = ? AND NOT c.is_deleted "
)


@SITE.get("/u/{username}")
def profile(context: RequestContext, username: str) -> Response:
    """Show somebody: their numbers, and what they wrote last."""
    person = user_of(context, username)
    where = "p.user_id = :author"
    listing = list_posts(context, where, sort="new", author=person["id"])
    comments = context.rows(_WRITTEN + "ORDER BY c.id DESC LIMIT 5", person["id"])
    return _render(
        context, person, "overview", posts=listing.posts[:5], comments=comments, pages=None
    )


@SITE.get("/u/{username}/posts")
def profile_posts(context: RequestContext, username: str) -> Response:
    """List somebody's posts."""
    person = user_of(context, username)
    listing = list_posts(context, "p.user_id = :author", default="new", author=person["id"])
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
    person = user_of(context, username)
    sort = "top" if context.field("sort") == "top" else "new"
    total = context.value(
        "SELECT count(*) FROM comments WHERE user_id = ? AND NOT is_deleted", person["id"]
    )
    pages = Pages.of(context, total, 10)
    order = "c.score DESC, c.id DESC" if sort == "top" else "c.id DESC"
    comments = context.rows(
        f"{_WRITTEN} ORDER BY {order} LIMIT {pages.size} OFFSET {pages.offset}", person["id"]
    )
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
    """Block somebody, or stop."""
    person = user_of(context, username)
    if person["id"] == me(context):
        raise Forbidden("You cannot block yourself.")
    if context.field("value") == "1":
        context.run("INSERT OR IGNORE INTO blocked_users VALUES (?, ?)", me(context), person["id"])
        context.flash(f"{person['username']} is blocked: their posts leave your front page.")
    else:
        context.run(
            "DELETE FROM blocked_users WHERE user_id = ? AND blocked_id = ?",
            me(context),
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
        me(context),
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
