"""Profiles: what somebody wrote, and blocking them."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.webarena.sites.paging import Pages
from agentgym_envs.webarena.sites.reddit.listing import SORTS, list_posts
from agentgym_envs.webarena.sites.reddit.lookup import Forbidden, me, user_of
from agentgym_envs.webarena.sites.reddit.site import SITE
from agentgym_envs.webarena.sites.web import Visit

_WRITTEN = (
    "SELECT c.*, p.title, f.title AS forum_title FROM comments c "
    "JOIN posts p ON p.id = c.post_id JOIN forums f ON f.id = p.forum_id "
    "WHERE c.user_id = ? AND NOT c.is_deleted "
)


@SITE.get("/u/{username}")
def profile(visit: Visit, username: str) -> Response:
    """Show somebody: their numbers, and what they wrote last."""
    person = user_of(visit, username)
    where = "p.user_id = :author"
    listing = list_posts(visit, where, sort="new", author=person["id"])
    comments = visit.rows(_WRITTEN + "ORDER BY c.id DESC LIMIT 5", person["id"])
    return _render(
        visit, person, "overview", posts=listing.posts[:5], comments=comments, pages=None
    )


@SITE.get("/u/{username}/posts")
def profile_posts(visit: Visit, username: str) -> Response:
    """List somebody's posts."""
    person = user_of(visit, username)
    listing = list_posts(visit, "p.user_id = :author", default="new", author=person["id"])
    return _render(
        visit,
        person,
        "posts",
        posts=listing.posts,
        comments=[],
        pages=listing.pages,
        sorts=SORTS,
        sort=listing.sort,
    )


@SITE.get("/u/{username}/comments")
def profile_comments(visit: Visit, username: str) -> Response:
    """List somebody's comments."""
    person = user_of(visit, username)
    sort = "top" if visit.field("sort") == "top" else "new"
    total = visit.value(
        "SELECT count(*) FROM comments WHERE user_id = ? AND NOT is_deleted", person["id"]
    )
    pages = Pages.of(visit, total, 10)
    order = "c.score DESC, c.id DESC" if sort == "top" else "c.id DESC"
    comments = visit.rows(
        f"{_WRITTEN} ORDER BY {order} LIMIT {pages.size} OFFSET {pages.offset}", person["id"]
    )
    return _render(
        visit,
        person,
        "comments",
        posts=[],
        comments=comments,
        pages=pages,
        sorts={"new": "New", "top": "Top"},
        sort=sort,
    )


@SITE.post("/u/{username}/block", signed_in=True)
def block(visit: Visit, username: str) -> Response:
    """Block somebody, or stop."""
    person = user_of(visit, username)
    if person["id"] == me(visit):
        raise Forbidden("You cannot block yourself.")
    if visit.field("value") == "1":
        visit.run("INSERT OR IGNORE INTO blocked_users VALUES (?, ?)", me(visit), person["id"])
        visit.flash(f"{person['username']} is blocked: their posts leave your front page.")
    else:
        visit.run(
            "DELETE FROM blocked_users WHERE user_id = ? AND blocked_id = ?",
            me(visit),
            person["id"],
        )
        visit.flash(f"{person['username']} is no longer blocked.")
    return visit.redirect(visit.way_back(f"/u/{person['username']}"))


def _render(visit: Visit, person: sqlite3.Row, tab: str, **context: Any) -> Response:
    numbers = visit.row(
        "SELECT (SELECT count(*) FROM posts WHERE user_id = u.id) AS posts, "
        "(SELECT count(*) FROM comments WHERE user_id = u.id AND NOT is_deleted) AS comments, "
        "(SELECT coalesce(sum(score), 0) FROM posts WHERE user_id = u.id) + "
        "(SELECT coalesce(sum(score), 0) FROM comments WHERE user_id = u.id AND NOT is_deleted) "
        "AS karma, EXISTS (SELECT 1 FROM blocked_users WHERE user_id = ? AND blocked_id = u.id) "
        "AS is_blocked FROM users u WHERE u.id = ?",
        me(visit),
        person["id"],
    )
    moderated = visit.rows(
        "SELECT f.name, f.title FROM moderators m JOIN forums f ON f.id = m.forum_id "
        "WHERE m.user_id = ? ORDER BY f.title",
        person["id"],
    )
    return visit.render(
        "profile.html", person=person, numbers=numbers, moderated=moderated, tab=tab, **context
    )
