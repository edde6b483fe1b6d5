"""Computes how hot a post is: votes raise it, age cools it."""

from __future__ import annotations

from datetime import datetime

from agentgym_envs.sites.state import NOW

_NOW = datetime.fromisoformat(NOW)


def heat(score: int, created_at: str) -> float:
    """Return a number to sort by: a day halves a new post's, and later ever less."""
    days = (_NOW - datetime.fromisoformat(created_at)).total_seconds() / 86400
    return score / (1.0 + max(0.0, days)) if score > 0 else score * (1.0 + max(0.0, days))
