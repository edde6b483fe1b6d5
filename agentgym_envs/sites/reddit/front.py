"""The front page, the saved posts and the search."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing, like
from agentgym_envs.sites.reddit.listing import RANGES, SORTS, list_posts
from agentgym_envs.sites.reddit.lookup import find_forum, read_line
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import RequestContext

_KINDS = {
    "posts": "Posts",
    "comments": "Comments",
    "communities": "Communities",
    "people": "People",
}
_MAX_WORDS = 8
_TABLES = {
    # what is searched, what is shown, in which order
    "comments": (
        "comments c JOIN users u ON u.id = c.user_id "
        "JOIN posts p ON p.id = c.post_id AND NOT c.is_deleted",
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


@SITE.get("/")
def front(context: RequestContext) -> Response:
    """Show the posts of all communities, or of those that the user follows."""
    feed = context.field("feed")
    if context.user is None or feed not in ("all", "subscribed"):
        feed = "all"
    where = "p.user_id NOT IN (SELECT blocked_id FROM blocked_users WHERE user_id = ?)"
    values = [context.user_id]
    if feed == "subscribed":
        where += " AND p.forum_id IN (SELECT forum_id FROM subscriptions WHERE user_id = ?)"
        values *= 2
    popular = context.rows(
        "SELECT f.name, f.title, s.members FROM (SELECT forum_id, count(*) AS members "
        "FROM subscriptions GROUP BY forum_id ORDER BY members DESC, forum_id LIMIT 6) s "
        "JOIN forums f ON f.id = s.forum_id ORDER BY s.members DESC, f.id"
    )
    return context.render(
        "front.html",
        listing=list_posts(context, where, *values),
        feed=feed,
        popular=popular,
        sorts=SORTS,
        ranges=RANGES,
    )


@SITE.get("/saved", signed_in=True)
def saved(context: RequestContext) -> Response:
    """Show the posts that the user keeps."""
    where = "p.id IN (SELECT post_id FROM saved_posts WHERE user_id = ?)"
    listing = list_posts(context, where, context.user_id, sort="new")
    return context.render("saved.html", listing=listing)


@SITE.get("/search")
def search(context: RequestContext) -> Response:
    """Search posts, comments, communities or people."""
    query = read_line(context, "q")[:200]
    kind = context.field("kind") if context.field("kind") in _KINDS else "posts"
    forum = find_forum(context, context.field("in")) if context.field("in") else None
    words = query.split()[:_MAX_WORDS]
    variables: dict[str, Any] = {"query": query, "kind": kind, "kinds": _KINDS, "forum": forum}
    if not words:
        return context.render("search.html", listing=None, rows=[], pages=None, **variables)
    patterns = [like(word) for word in words]
    if kind == "posts":
        where = " AND ".join("p.title || ' ' || p.body LIKE ? ESCAPE '!'" for _ in words)
        values: list[Any] = [*patterns]
        if forum is not None:
            where += " AND p.forum_id = ?"
            values.append(forum["id"])
        sort = "match" if context.field("sort") not in SORTS else context.field("sort")
        listing = list_posts(context, where, *values, sort=sort, match=patterns[0])
        return context.render(
            "search.html", listing=listing, rows=[], pages=listing.pages, sorts=SORTS, **variables
        )
    tables, text, columns, order = _TABLES[kind]
    others = Listing(context, tables, size=10)
    for pattern in patterns:
        others.where(f"{text} LIKE ? ESCAPE '!'", pattern)
    rows, pages = others.rows(columns, order=order)
    return context.render("search.html", listing=None, rows=rows, pages=pages, **variables)
