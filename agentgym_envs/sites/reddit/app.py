"""Assembles the forum with all its pages."""

from __future__ import annotations

from agentgym_envs.sites.reddit import (
    account,
    comments,
    communities,
    community_forms,
    front,
    messages,
    post_forms,
    posts,
    profiles,
    votes,
)
from agentgym_envs.sites.reddit.site import SITE

__all__ = [
    "SITE",
    "account",
    "comments",
    "communities",
    "community_forms",
    "front",
    "messages",
    "post_forms",
    "posts",
    "profiles",
    "votes",
]
