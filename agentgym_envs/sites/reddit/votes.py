"""Votes: up, down and taken back."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.reddit.heat import heat
from agentgym_envs.sites.reddit.lookup import (
    Forbidden,
    comment_of,
    me,
    post_of,
)
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import RequestContext

_VALUES = {"1": 1, "-1": -1, "0": 0}


@SITE.post("/p/{number}/vote", signed_in=True)
def vote_post(context: RequestContext, number: str) -> Response:
    """Vote on a post."""
    post = post_of(context, number)
    change = _vote(context, "post", post)
    score = post["score"] + change
    context.run(
        "UPDATE posts SET score = ?, heat = ? WHERE id = ?",
        score,
        heat(score, post["created_at"]),
        post["id"],
    )
    return context.redirect(context.way_back(f"/p/{post['id']}"))


@SITE.post("/comments/{number}/vote", signed_in=True)
def vote_comment(context: RequestContext, number: str) -> Response:
    """Vote on a comment."""
    comment = comment_of(context, number)
    change = _vote(context, "comment", comment)
    context.run("UPDATE comments SET score = score + ? WHERE id = ?", change, comment["id"])
    return context.redirect(context.way_back(f"/p/{comment['post_id']}"))


def _vote(context: RequestContext, kind: str, row: sqlite3.Row) -> int:
    """Note the vote and return by how much the score changes."""
    if row["user_id"] == me(context):
        raise Forbidden("You cannot vote for what you wrote yourself.")
    value = _VALUES.get(context.field("value"))
    if value is None:
        raise Forbidden("A vote is 1, -1 or 0.")
    if value:
        context.run(
            f"INSERT OR REPLACE INTO {kind}_votes VALUES (?, ?, ?)", row["id"], me(context), value
        )
    else:
        context.run(
            f"DELETE FROM {kind}_votes WHERE {kind}_id = ? AND user_id = ?", row["id"], me(context)
        )
    change: int = value - row["vote"]
    return change
