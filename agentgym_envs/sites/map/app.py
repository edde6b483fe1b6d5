"""Assembles the map with all its pages."""

from __future__ import annotations

from agentgym_envs.sites.map import (
    browse,
    contribute,
    find,
    lists,
    place,
    travel,
)
from agentgym_envs.sites.map.site import SITE

__all__ = ["SITE", "browse", "contribute", "find", "lists", "place", "travel"]
