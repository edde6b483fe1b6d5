"""The code host's `Site`, which every handler module registers its pages with."""

from __future__ import annotations

from pathlib import Path

from agentgym_envs.webarena.sites.web import Site

SITE = Site("gitlab", "Forgeyard", Path(__file__).parent, user_table="users")
