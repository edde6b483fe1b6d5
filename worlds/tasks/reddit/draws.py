"""What the forum's templates share: queries for drawing, and states that they expect."""

from __future__ import annotations

from typing import Any

from agentgym_envs.webarena.sites.people import AGENT_ID
from agentgym_envs.webarena.tasks.reddit.steps import SITE
from worlds.tasks.template import World, state_of

ME = AGENT_ID
FLAIRS = ("Question", "Review", "Story", "Advice", "Discussion", "Event", "For sale", "News")
_TOTALS = {
    "posts": "SELECT count(*) FROM posts",
    "comments": "SELECT count(*) FROM comments WHERE NOT is_deleted",
    "edited_posts": "SELECT sum(is_edited) FROM posts",
    "edited_comments": "SELECT sum(is_edited) FROM comments",
    "locked_posts": "SELECT sum(is_locked) FROM posts",
    "post_votes": "SELECT count(*) FROM post_votes",
    "sum_of_post_votes": "SELECT sum(value) FROM post_votes",
    "comment_votes": "SELECT count(*) FROM comment_votes",
    "sum_of_comment_votes": "SELECT sum(value) FROM comment_votes",
    "saved_posts": "SELECT count(*) FROM saved_posts",
    "messages": "SELECT count(*) FROM messages",
    "forums": "SELECT count(*) FROM forums",
    "moderators": "SELECT count(*) FROM moderators",
    "subscriptions": "SELECT count(*) FROM subscriptions",
    "blocked_users": "SELECT count(*) FROM blocked_users",
    "users": "SELECT count(*) FROM users",
}

_QUERY = "SELECT " + ", ".join(f"({query})" for query in _TOTALS.values())


def expected(query: str, *rows: tuple[Any, ...]) -> dict[str, Any]:
    """Describe what a query on the forum must give."""
    return state_of(SITE, query, rows)


def totals(world: World, **changes: int) -> dict[str, Any]:
    """Describe how many things of each kind there must be: as many as before, but for `changes`."""
    unknown = set(changes) - set(_TOTALS)
    if unknown:
        raise ValueError(f"unknown totals {sorted(unknown)}; allowed: {', '.join(_TOTALS)}")
    before = world.rows(SITE, _QUERY)[0]
    after = [value + changes.get(name, 0) for name, value in zip(_TOTALS, before, strict=True)]
    return state_of(SITE, _QUERY, [after])


def last_id(world: World, table: str) -> int:
    """Return the highest id of a table."""
    number: int = world.value(SITE, f"SELECT max(id) FROM {table}")
    return number


def is_free(world: World, post_id: int) -> bool:
    """Return whether a post is somebody else's and the agent has not voted on it."""
    return not world.value(
        SITE,
        "SELECT 1 FROM posts p WHERE p.id = ? AND (p.user_id = ? OR EXISTS "
        "(SELECT 1 FROM post_votes v WHERE v.post_id = p.id AND v.user_id = ?))",
        post_id,
        ME,
        ME,
    )
