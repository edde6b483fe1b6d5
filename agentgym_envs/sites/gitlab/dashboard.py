"""Lists over all projects: yours, starred, explore, search, and your assignments."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import VISIBLE
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.listing import Listing, Pages, like, order_choices
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 12

ORDERS = {
    "updated": ("Last updated", "p.updated_at DESC, p.id"),
    "stars": ("Most stars", "p.star_count DESC, p.name"),
    "name": ("Name", "p.name, p.id"),
    "created": ("Newest", "p.created_at DESC, p.id"),
    "oldest": ("Oldest", "p.created_at, p.id"),
}
"""Sort orders of project lists."""


@SITE.get("/")
def home(context: RequestContext) -> Response:
    """Show your projects, or to strangers all public ones."""
    user = context.user_id
    if not user:
        return context.redirect("/explore")
    condition = (
        "EXISTS (SELECT 1 FROM members w WHERE w.project_id = p.id AND w.user_id = ? "
        "AND (? = '' OR w.role = 'Owner'))"
    )
    owned = "owned" if context.field("only") == "owned" else ""
    return _list(context, "yours", "Your projects", condition, user, owned)


@SITE.get("/starred", signed_in=True)
def starred(context: RequestContext) -> Response:
    """Show the projects that you have starred."""
    condition = "EXISTS (SELECT 1 FROM stars w WHERE w.project_id = p.id AND w.user_id = ?)"
    return _list(context, "starred", "Starred projects", condition, context.user_id)


@SITE.get("/explore")
def explore(context: RequestContext) -> Response:
    """Show all projects that you may see."""
    return _list(context, "explore", "Explore projects", "1")


@SITE.get("/assigned", signed_in=True)
def assigned(context: RequestContext) -> Response:
    """Show the open issues and merge requests that are yours to do."""
    user = context.user_id
    issues = context.rows(
        "SELECT i.iid, i.title, i.due_on, i.created_at, p.name AS project, "
        "'/~' || u.username || '/' || p.slug AS path FROM issues i "
        "JOIN projects p ON p.id = i.project_id JOIN users u ON u.id = p.owner_id "
        "WHERE i.assignee_id = ? AND i.state = 'open' ORDER BY i.created_at DESC, i.id",
        user,
    )
    pages = Pages.from_request(context, len(issues), 15)
    requests = context.rows(
        "SELECT r.iid, r.title, r.created_at, r.assignee_id, r.reviewer_id, p.name AS project, "
        "'/~' || u.username || '/' || p.slug AS path FROM merge_requests r "
        "JOIN projects p ON p.id = r.project_id JOIN users u ON u.id = p.owner_id "
        "WHERE (r.assignee_id = ? OR r.reviewer_id = ?) AND r.state = 'open' "
        "ORDER BY r.created_at DESC, r.id LIMIT 15",
        user,
        user,
    )
    return context.render("assigned.html", issues=pages.cut(issues), pages=pages, requests=requests)


def list_projects(
    context: RequestContext, condition: str, *values: Any, size: int = PAGE_SIZE
) -> tuple[list[sqlite3.Row], Pages]:
    """Return a page of the visible projects that meet a condition, sorted as the query asks.

    Args:
        context: whose query parameters `q`, `sort` and `page` count.
        condition: SQL on projects `p`.
        values: of the condition's placeholders.
        size: projects a page.
    """
    listing = Listing(context, "projects p", ORDERS, size=size)
    listing.where(VISIBLE, context.user_id, context.user_id).where(condition, *values)
    listing.like("q", "p.name", "p.description")
    if topic := context.field("topic"):
        listing.where("', ' || p.topics || ', ' LIKE ? ESCAPE '!'", like(f", {topic}, "))
    return listing.rows(
        "p.*, u.username AS owner_username, u.name AS owner_name, "
        "(SELECT count(*) FROM projects f WHERE f.forked_from = p.id) AS fork_count",
        joined="JOIN users u ON u.id = p.owner_id",
    )


def _list(context: RequestContext, tab: str, title: str, condition: str, *values: Any) -> Response:
    rows, pages = list_projects(context, condition, *values)
    return context.render(
        "project_list.html",
        tab=tab,
        title=title,
        rows=rows,
        pages=pages,
        orders=order_choices(ORDERS),
    )


@SITE.get("/topics")
def topics(context: RequestContext) -> Response:
    """List the topics of the visible projects."""
    user = context.user_id
    counts: dict[str, int] = {}
    for row in context.rows(f"SELECT p.topics FROM projects p WHERE {VISIBLE}", user, user):
        for topic in filter(None, row["topics"].split(", ")):
            counts[topic] = counts.get(topic, 0) + 1
    return context.render("topics.html", topics=sorted(counts.items()))


@SITE.get("/search")
def search(context: RequestContext) -> Response:
    """Show the search results of a text."""
    text, scope = context.field("q"), context.field("scope")
    if scope == "issues":
        source = "issues i JOIN projects p ON p.id = i.project_id JOIN users u ON u.id = p.owner_id"
        listing = Listing(context, source)
        listing.where(VISIBLE, context.user_id, context.user_id).where("NOT i.confidential")
        rows, pages = listing.where("i.title LIKE ? ESCAPE '!'", like(text)).rows(
            "i.iid, i.title, i.state, i.created_at, p.name AS project, "
            "'/~' || u.username || '/' || p.slug AS path",
            order="i.created_at DESC, i.id",
        )
    elif scope == "people":
        listing = Listing(context, "users").where(
            "name LIKE ? ESCAPE '!' OR username LIKE ? ESCAPE '!' OR email = ?",
            *(like(text), like(text), text.lower()),
        )
        rows, pages = listing.rows("*", order="name")
    else:
        scope = "projects"
        rows, pages = list_projects(context, "1", size=10)
    return context.render("search.html", text=text, scope=scope, rows=rows, pages=pages)
