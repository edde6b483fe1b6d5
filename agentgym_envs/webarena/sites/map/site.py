"""The map's `Site`, which every module of handlers registers with."""

from __future__ import annotations

from pathlib import Path

from agentgym_envs.webarena.sites.web import Site

SITE = Site("map", "Wayfinder", Path(__file__).parent, user_table="users")
