"""Communities: their list, their pages, following, creating and changing them."""

from __future__ import annotations

import re
import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing, like
from agentgym_envs.sites.reddit.listing import RANGES, SORTS, list_posts
from agentgym_envs.sites.reddit.lookup import ForumFields, find_forum, read_line
from agentgym_envs.sites.reddit.site import FLAIRS, SITE
from agentgym_envs.sites.web import Forbidden, RequestContext

_ORDERS = {
    "members": ("Most members", "members DESC, f.title"),
    "title": ("Name", "f.title, f.id"),
    "posts": ("Most posts", "posts DESC, f.title"),
    "new": ("Newest", "f.created_at DESC, f.id DESC"),
}
_RESERVED = ("new", "all", "subscribed")


@SITE.get("/communities")
def communities(context: RequestContext) -> Response:
    """List the communities whose name or description contains the search text."""
    query = read_line(context, "q")[:200]
    sort = context.field("sort") if context.field("sort") in _ORDERS else "members"
    mine = context.user is not None and context.field("mine") == "1"
    listing = Listing(context, "forums f", _ORDERS, size=12)
    listing.where("f.name || ' ' || f.title || ' ' || f.description LIKE ? ESCAPE '!'", like(query))
    if mine:
        listing.where(
            "f.id IN (SELECT forum_id FROM subscriptions WHERE user_id = ?)", context.user_id
        )
    rows, pages = listing.rows(
        "f.*, (SELECT count(*) FROM subscriptions s WHERE s.forum_id = f.id) AS members, "
        "(SELECT count(*) FROM posts p WHERE p.forum_id = f.id) AS posts, "
        "EXISTS (SELECT 1 FROM subscriptions s WHERE s.forum_id = f.id "
        f"AND s.user_id = {context.user_id}) AS is_subscribed"
    )
    return context.render(
        "communities.html",
        rows=rows,
        pages=pages,
        query=query,
        sort=sort,
        mine=mine,
        sorts=dict(listing.sorting),
    )


@SITE.get("/c/{name}")
def community(context: RequestContext, name: str) -> Response:
    """Show a community's posts."""
    forum = find_forum(context, name)
    moderators = context.rows(
        "SELECT u.username FROM moderators m JOIN users u ON u.id = m.user_id "
        "WHERE m.forum_id = ? ORDER BY u.username",
        forum["id"],
    )
    return context.render(
        "community.html",
        forum=forum,
        moderators=moderators,
        listing=list_posts(context, "p.forum_id = ?", forum["id"]),
        sorts=SORTS,
        ranges=RANGES,
        flairs=FLAIRS,
    )


@SITE.post("/c/{name}/subscribe", signed_in=True)
def subscribe(context: RequestContext, name: str) -> Response:
    """Follow a community, or stop."""
    forum = find_forum(context, name)
    if context.field("value") == "1":
        context.run(
            "INSERT OR IGNORE INTO subscriptions VALUES (?, ?)", forum["id"], context.user_id
        )
        context.flash(f"You are now subscribed to {forum['title']}.")
    else:
        context.run(
            "DELETE FROM subscriptions WHERE forum_id = ? AND user_id = ?",
            forum["id"],
            context.user_id,
        )
        context.flash(f"You are no longer subscribed to {forum['title']}.")
    return context.redirect(context.way_back(f"/c/{forum['name']}"))


@SITE.get("/communities/new", signed_in=True)
def new_community(context: RequestContext) -> Response:
    """Show the empty form."""
    return ForumFields(context).page("community_form.html", forum=None)


@SITE.post("/communities/new", signed_in=True)
def create_community(context: RequestContext) -> Response:
    """Create a community that its creator moderates and follows."""
    fields = _read(context)
    name = fields.line("name")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or not 3 <= len(name) <= 30:
        fields.errors["name"] = "Use 3 to 30 small letters, digits and single hyphens: board-games."
    elif name in _RESERVED or context.row("SELECT 1 FROM forums WHERE name = ?", name):
        fields.errors["name"] = "This name is taken."
    values = fields.values
    if fields.errors:
        return fields.page("community_form.html", forum=None)
    number = context.insert("forums", **values, created_by=context.user_id, created_at=context.now)
    for table in ("moderators", "subscriptions"):
        context.insert(table, forum_id=number, user_id=context.user_id)
    context.flash(f"{values['title']} is open. Write the first post!")
    return context.redirect(f"/c/{name}")


@SITE.get("/c/{name}/edit", signed_in=True)
def edit_community(context: RequestContext, name: str) -> Response:
    """Show a community's form to its moderators."""
    forum = _moderated(context, name)
    return ForumFields(context, forum).page("community_form.html", forum=forum)


@SITE.post("/c/{name}/edit", signed_in=True)
def change_community(context: RequestContext, name: str) -> Response:
    """Change title, description and sidebar."""
    forum = _moderated(context, name)
    fields = _read(context)
    if fields.errors:
        return fields.page("community_form.html", forum=forum)
    context.update("forums", forum["id"], **fields.values)
    context.flash("The community has been changed.")
    return context.redirect(f"/c/{forum['name']}")


def _moderated(context: RequestContext, name: str) -> sqlite3.Row:
    forum = find_forum(context, name)
    if not forum["is_moderated"]:
        raise Forbidden("Only moderators can change a community.")
    return forum


def _read(context: RequestContext) -> ForumFields:
    fields = ForumFields(context)
    fields.line("title", "Give the community a title.", most=60)
    fields.line("description", "Say in one sentence what it is about.", most=200)
    fields.text("sidebar", most=4000, least=0)
    return fields
