"""Lists of posts: sorted, filtered, a page at a time. Every page that shows posts asks here."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agentgym_envs.sites.listing import Listing, Pages
from agentgym_envs.sites.reddit.site import FLAIRS
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 10

SORTS = {"hot": "Hot", "new": "New", "top": "Top", "comments": "Most commented"}
"""Orders of posts and their labels."""

RANGES = {"": "Any time", "1": "24 hours", "7": "7 days", "30": "30 days", "365": "A year"}
"""Days that the posts of a list may be old."""

_ORDERS = {
    "hot": "p.heat DESC, p.id DESC",
    "new": "p.id DESC",
    "top": "p.score DESC, p.id DESC",
    "comments": "p.num_comments DESC, p.id DESC",
    "match": "p.title LIKE ? ESCAPE '!' DESC, p.score DESC, p.id DESC",
}


@dataclass(frozen=True)
class Posts:
    """A page of posts.

    Attributes:
        posts: rows with author, community and the user's own vote.
        pages: where in the whole list this is.
        sort: how it is sorted, a key of `SORTS`.
        within: how old the posts may be, a key of `RANGES`.
        flair: the only kind that is listed, or "".
    """

    posts: list[sqlite3.Row]
    pages: Pages
    sort: str
    within: str
    flair: str


def list_posts(
    context: RequestContext,
    where: str,
    *values: Any,
    sort: str = "",
    default: str = "hot",
    match: str = "",
) -> Posts:
    """List posts as the query parameters `sort`, `within`, `flair` and `page` ask for.

    Args:
        context: the request.
        where: a condition on `p`, the post; never holds what somebody typed.
        *values: of the condition's placeholders.
        sort: takes this order, whatever the parameter says.
        default: the order where the parameter names none.
        match: the pattern of titles that come first in the order `match`.
    """
    sort = sort or (context.field("sort") if context.field("sort") in SORTS else default)
    within = context.field("within") if context.field("within") in RANGES else ""
    flair = context.field("flair") if context.field("flair") in FLAIRS else ""
    listing = Listing(context, "posts p", size=PAGE_SIZE).where(where, *values)
    if within:
        oldest = datetime.fromisoformat(context.now) - timedelta(days=int(within))
        listing.where("p.created_at >= ?", str(oldest))
    if flair:
        listing.where("p.flair = ?", flair)
    posts, pages = listing.rows(
        "p.*, f.name AS forum, f.title AS forum_title, u.username AS author, "
        "coalesce(v.value, 0) AS vote",
        *([match] if sort == "match" else []),
        joined="JOIN forums f ON f.id = p.forum_id JOIN users u ON u.id = p.user_id "
        f"LEFT JOIN post_votes v ON v.post_id = p.id AND v.user_id = {context.user_id}",
        order=_ORDERS[sort],
    )
    return Posts(posts, pages, sort, within, flair)
