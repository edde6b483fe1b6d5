"""The front page, the saved posts and the search."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.reddit.listing import RANGES, SORTS, list_posts
from agentgym_envs.sites.reddit.lookup import forum_of, line_of, named, pattern
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import RequestContext

_KINDS = {
    "posts": "Posts",
    "comments": "Comments",
    "communities": "Communities",
    "people": "People",
}
_MAX_WORDS = 8


@SITE.get("/")
def front(context: RequestContext) -> Response:
    """Show everybody's posts, or those of the communities that the user follows."""
    feed = context.field("feed")
    if context.user is None or feed not in ("all", "subscribed"):
        feed = "all"
    where = "p.user_id NOT IN (SELECT blocked_id FROM blocked_users WHERE user_id = :me)"
    if feed == "subscribed":
        where += " AND p.forum_id IN (SELECT forum_id FROM subscriptions WHERE user_id = :me)"
    popular = context.rows(
        "SELECT f.name, f.title, s.members FROM (SELECT forum_id, count(*) AS members "
        "FROM subscriptions GROUP BY forum_id ORDER BY members DESC, forum_id LIMIT 6) s "
        "JOIN forums f ON f.id = s.forum_id ORDER BY s.members DESC, f.id"
    )
    return context.render(
        "front.html",
        listing=list_posts(context, where),
        feed=feed,
        popular=popular,
        sorts=SORTS,
        ranges=RANGES,
    )


@SITE.get("/saved", signed_in=True)
def saved(context: RequestContext) -> Response:
    """Show the posts that the user keeps."""
    where = "p.id IN (SELECT post_id FROM saved_posts WHERE user_id = :me)"
    return context.render("saved.html", listing=list_posts(context, where, sort="new"))


@SITE.get("/search")
def search(context: RequestContext) -> Response:
    """Search posts, comments, communities or people."""
    query = line_of(context, "q")[:200]
    kind = context.field("kind") if context.field("kind") in _KINDS else "posts"
    forum = forum_of(context, context.field("in")) if context.field("in") else None
    words = query.split()[:_MAX_WORDS]
    variables: dict[str, Any] = {"query": query, "kind": kind, "kinds": _KINDS, "forum": forum}
    if not words:
        return context.render("search.html", listing=None, rows=[], pages=None, **variables)
    values: dict[str, Any] = {f"w{index}": pattern(word) for index, word in enumerate(words)}
    if kind == "posts":
        where = " AND ".join(f"p.title || ' ' || p.body LIKE :{name} ESCAPE '!'" for name in values)
        if forum is not None:
            where += " AND p.forum_id = :forum"
            values["forum"] = forum["id"]
        sort = "match" if context.field("sort") not in SORTS else context.field("sort")
        listing = list_posts(context, where, sort=sort, **values)
        return context.render(
            "search.html", listing=listing, rows=[], pages=listing.pages, sorts=SORTS, **variables
        )
    rows, pages = _other(context, kind, values)
    return context.render("search.html", listing=None, rows=rows, pages=pages, **variables)


_TABLES = {
    # what is searched, what is shown, in which order
    "comments": (
        "comments c JOIN users u ON u.id = c.user_id JOIN posts p ON p.id = c.post_id",
        "c.body",
        "c.id, c.post_id, c.body, c.score, c.created_at, u.username AS author, p.title",
        "c.score DESC, c.id DESC",
    ),
    "communities": (
        "forums f",
        "f.name || ' ' || f.title || ' ' || f.description",
        "f.name, f.title, f.description",
        "f.title, f.id",
    ),
    "people": (
        "users u",
        "u.username || ' ' || u.name",
        "u.username, u.name, u.bio",
        "u.username",
    ),
}


def _other(
    context: RequestContext, kind: str, values: dict[str, Any]
) -> tuple[list[sqlite3.Row], Pages]:
    tables, text, columns, order = _TABLES[kind]
    where = " AND ".join(f"{text} LIKE :{name} ESCAPE '!'" for name in values)
    if kind == "comments":
        where += " AND NOT c.is_deleted"
    total = named(context, f"SELECT count(*) FROM {tables} WHERE {where}", values)[0][0]
    pages = Pages.of(context, total, 10)
    rows = named(
        context,
        f"SELECT {columns} FROM {tables} WHERE {where} ORDER BY {order} "
        f"LIMIT {pages.size} OFFSET {pages.offset}",
        values,
    )
    return rows, pages
