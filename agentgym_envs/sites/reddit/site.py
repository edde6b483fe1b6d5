"""Declares the forum's `Site` and its templates' functions."""

from __future__ import annotations

from pathlib import Path

from agentgym_envs.sites.filters import day
from agentgym_envs.sites.web import RequestContext, Site

FLAIRS = (
    "Question", "Review", "Story", "Advice", "Discussion", "Event", "For sale", "News",
)  # fmt: skip
"""Marks of posts."""

SITE = Site("reddit", "Commonplace", Path(__file__).parent, user_table="users")


def moment(value: str) -> str:
    """Write a moment: `14 March 2026, 09:30`."""
    return f"{day(value)}, {value[11:16]}"


def paragraphs(text: str) -> list[str]:
    """Split a text where it has empty lines."""
    return [part for part in text.split("\n\n") if part.strip()]


def unread(context: RequestContext) -> tuple[int, int]:
    """Return the user's numbers of unread messages and of unread notifications."""
    if context.user is None:
        return 0, 0
    me = context.user["id"]
    messages = context.value("SELECT count(*) FROM messages WHERE to_id = ? AND NOT is_read", me)
    answers = context.value(
        "SELECT count(*) FROM notifications WHERE user_id = ? AND NOT is_read", me
    )
    return messages, answers


SITE.environment.filters["moment"] = moment
SITE.environment.filters["paragraphs"] = paragraphs
SITE.environment.globals["unread"] = unread
