"""A post and the comments below it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from starlette.responses import Response

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.reddit.lookup import forum_of, me, named, post_of
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import RequestContext

THREADS_PER_PAGE = 6
_DEEPEST = 12  # replies below are shown beside each other, so that no page nests without end

SORTS = {"best": "Best", "new": "Newest", "old": "Oldest"}
"""Orders of comments and what they are called."""

_COMMENTS = (
    "SELECT c.*, u.username AS author, coalesce(v.value, 0) AS vote "
    "FROM comments c JOIN users u ON u.id = c.user_id "
    "LEFT JOIN comment_votes v ON v.comment_id = c.id AND v.user_id = :me "
)


@dataclass
class Thread:
    """A comment and the replies to it.

    Attributes:
        comment: its row.
        replies: in the page's order.
    """

    comment: sqlite3.Row
    replies: list[Thread] = field(default_factory=list)


def threads_of(context: RequestContext, post_id: int, sort: str) -> list[Thread]:
    """Return all comments of a post, replies below what they answer."""
    rows = named(
        context, _COMMENTS + "WHERE c.post_id = :post", {"post": post_id, "me": me(context)}
    )
    if sort == "best":
        rows.sort(key=lambda row: (-row["score"], row["id"]))
    else:
        rows.sort(key=lambda row: row["id"], reverse=sort == "new")
    return _nested(rows)


def _nested(rows: list[sqlite3.Row]) -> list[Thread]:
    threads = {row["id"]: Thread(row) for row in rows}
    parents = {row["id"]: row["parent_id"] for row in rows}
    top = []
    for row in rows:
        parent, depth = row["parent_id"], _depth(row["id"], parents)
        for _ in range(depth - _DEEPEST):
            parent = parents[parent]
        if parent is None:
            top.append(threads[row["id"]])
        else:
            threads[parent].replies.append(threads[row["id"]])
    return top


def _depth(number: int, parents: dict[int, int | None]) -> int:
    depth, parent = 0, parents[number]
    while parent is not None:
        depth, parent = depth + 1, parents[parent]
    return depth


@SITE.get("/p/{number}")
def post(context: RequestContext, number: str) -> Response:
    """Show a post."""
    return show_post(context, number, {})


@SITE.post("/p/{number}/save", signed_in=True)
def save(context: RequestContext, number: str) -> Response:
    """Keep a post for later, or stop keeping it."""
    row = post_of(context, number)
    if context.field("value") == "1":
        context.run("INSERT OR IGNORE INTO saved_posts VALUES (?, ?)", me(context), row["id"])
        context.flash("The post is saved.")
    else:
        context.run(
            "DELETE FROM saved_posts WHERE user_id = ? AND post_id = ?", me(context), row["id"]
        )
        context.flash("The post is no longer saved.")
    return context.redirect(context.way_back(f"/p/{row['id']}"))


def show_post(
    context: RequestContext, number: str, wrong: dict[str, str], body: str = ""
) -> Response:
    """Show a post, and what was wrong with a comment that somebody typed below it."""
    row = post_of(context, number)
    sort = context.field("sort") if context.field("sort") in SORTS else "best"
    threads = threads_of(context, row["id"], sort)
    pages = Pages.of(context, len(threads), THREADS_PER_PAGE)
    return context.render(
        "post.html",
        status=422 if wrong else 200,
        post=row,
        forum=forum_of(context, row["forum"]),
        threads=threads[pages.offset : pages.offset + pages.size],
        pages=pages,
        sort=sort,
        sorts=SORTS,
        wrong=wrong,
        body=body,
    )
