"""A post and the comments below it, keeping it, and votes: up, down and taken back."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from starlette.responses import Response

from agentgym_envs.sites.listing import Pages
from agentgym_envs.sites.reddit.heat import heat
from agentgym_envs.sites.reddit.lookup import ForumFields, find_comment, find_forum, find_post
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import Forbidden, RequestContext

THREADS_PER_PAGE = 6
_DEEPEST = 12  # replies below are shown beside each other, so that no page nests without end

SORTS = {"best": "Best", "new": "Newest", "old": "Oldest"}
"""Orders of comments and their labels."""

_VOTES = {"1": 1, "-1": -1, "0": 0}
_COMMENTS = (
    "SELECT c.*, u.username AS author, coalesce(v.value, 0) AS vote "
    "FROM comments c JOIN users u ON u.id = c.user_id "
    "LEFT JOIN comment_votes v ON v.comment_id = c.id AND v.user_id = ?"
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


def comment_threads(context: RequestContext, post_id: int, sort: str) -> list[Thread]:
    """Return all comments of a post, replies below their parents."""
    rows = context.rows(f"{_COMMENTS} WHERE c.post_id = ?", context.user_id, post_id)
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
    return show_post(ForumFields(context), number)


@SITE.post("/p/{number}/save", signed_in=True)
def save(context: RequestContext, number: str) -> Response:
    """Keep a post for later, or stop keeping it."""
    row = find_post(context, number)
    if context.field("value") == "1":
        context.run("INSERT OR IGNORE INTO saved_posts VALUES (?, ?)", context.user_id, row["id"])
        context.flash("The post is saved.")
    else:
        context.run(
            "DELETE FROM saved_posts WHERE user_id = ? AND post_id = ?", context.user_id, row["id"]
        )
        context.flash("The post is no longer saved.")
    return context.redirect(context.way_back(f"/p/{row['id']}"))


def show_post(fields: ForumFields, number: str) -> Response:
    """Show a post, with the errors of a rejected comment."""
    context = fields.context
    row = find_post(context, number)
    sort = context.field("sort") if context.field("sort") in SORTS else "best"
    threads = comment_threads(context, row["id"], sort)
    pages = Pages.from_request(context, len(threads), THREADS_PER_PAGE)
    return fields.page(
        "post.html",
        post=row,
        forum=find_forum(context, row["forum"]),
        threads=pages.cut(threads),
        pages=pages,
        sort=sort,
        sorts=SORTS,
    )


@SITE.post("/p/{number}/vote", signed_in=True)
def vote_post(context: RequestContext, number: str) -> Response:
    """Vote on a post."""
    post = find_post(context, number)
    change = _vote(context, "post", post)
    score = post["score"] + change
    context.update("posts", post["id"], score=score, heat=heat(score, post["created_at"]))
    return context.redirect(context.way_back(f"/p/{post['id']}"))


@SITE.post("/comments/{number}/vote", signed_in=True)
def vote_comment(context: RequestContext, number: str) -> Response:
    """Vote on a comment."""
    comment = find_comment(context, number)
    change = _vote(context, "comment", comment)
    context.run("UPDATE comments SET score = score + ? WHERE id = ?", change, comment["id"])
    return context.redirect(context.way_back(f"/p/{comment['post_id']}"))


def _vote(context: RequestContext, kind: str, row: sqlite3.Row) -> int:
    """Note the vote and return by how much the score changes."""
    if row["user_id"] == context.user_id:
        raise Forbidden("You cannot vote for what you wrote yourself.")
    value = _VOTES.get(context.field("value"))
    if value is None:
        raise Forbidden("A vote is 1, -1 or 0.")
    if value:
        context.run(
            f"INSERT OR REPLACE INTO {kind}_votes VALUES (?, ?, ?)",
            row["id"],
            context.user_id,
            value,
        )
    else:
        context.run(
            f"DELETE FROM {kind}_votes WHERE {kind}_id = ? AND user_id = ?",
            row["id"],
            context.user_id,
        )
    change: int = value - row["vote"]
    return change
