"""Communities: their list, their pages, and following them."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.reddit.listing import RANGES, SORTS, list_posts
from agentgym_envs.sites.reddit.lookup import (
    forum_of,
    line_of,
    me,
    named,
    pattern,
)
from agentgym_envs.sites.reddit.site import FLAIRS, SITE
from agentgym_envs.sites.web import RequestContext

_ORDERS = {
    "members": ("Most members", "members DESC, f.title"),
    "title": ("Name", "f.title, f.id"),
    "posts": ("Most posts", "posts DESC, f.title"),
    "new": ("Newest", "f.created_at DESC, f.id DESC"),
}


@SITE.get("/communities")
def communities(context: RequestContext) -> Response:
    """List the communities, all or those whose name or description holds what was typed."""
    query = line_of(context, "q")[:200]
    sort = context.field("sort") if context.field("sort") in _ORDERS else "members"
    mine = context.user is not None and context.field("mine") == "1"
    where = "f.name || ' ' || f.title || ' ' || f.description LIKE :query ESCAPE '!'"
    if mine:
        where += " AND f.id IN (SELECT forum_id FROM subscriptions WHERE user_id = :me)"
    values = {"query": pattern(query), "me": me(context)}
    total = named(context, f"SELECT count(*) FROM forums f WHERE {where}", values)[0][0]
    pages = Pages.of(context, total, 12)
    rows = named(
        context,
        "SELECT f.*, (SELECT count(*) FROM subscriptions s WHERE s.forum_id = f.id) AS members, "
        "(SELECT count(*) FROM posts p WHERE p.forum_id = f.id) AS posts, "
        "EXISTS (SELECT 1 FROM subscriptions s WHERE s.forum_id = f.id AND s.user_id = :me) "
        f"AS is_subscribed FROM forums f WHERE {where} "
        f"ORDER BY {_ORDERS[sort][1]} LIMIT {pages.size} OFFSET {pages.offset}",
        values,
    )
    return context.render(
        "communities.html",
        rows=rows,
        pages=pages,
        query=query,
        sort=sort,
        mine=mine,
        sorts={key: title for key, (title, _) in _ORDERS.items()},
    )


@SITE.get("/c/{name}")
def community(context: RequestContext, name: str) -> Response:
    """Show a community's posts."""
    forum = forum_of(context, name)
    moderators = context.rows(
        "SELECT u.username FROM moderators m JOIN users u ON u.id = m.user_id "
        "WHERE m.forum_id = ? ORDER BY u.username",
        forum["id"],
    )
    return context.render(
        "community.html",
        forum=forum,
        moderators=moderators,
        listing=list_posts(context, "p.forum_id = :forum", forum=forum["id"]),
        sorts=SORTS,
        ranges=RANGES,
        flairs=FLAIRS,
    )


@SITE.post("/c/{name}/subscribe", signed_in=True)
def subscribe(context: RequestContext, name: str) -> Response:
    """Follow a community, or stop."""
    forum = forum_of(context, name)
    if context.field("value") == "1":
        context.run("INSERT OR IGNORE INTO subscriptions VALUES (?, ?)", forum["id"], me(context))
        context.flash(f"You are now subscribed to {forum['title']}.")
    else:
        context.run(
            "DELETE FROM subscriptions WHERE forum_id = ? AND user_id = ?", forum["id"], me(context)
        )
        context.flash(f"You are no longer subscribed to {forum['title']}.")
    return context.redirect(context.way_back(f"/c/{forum['name']}"))
