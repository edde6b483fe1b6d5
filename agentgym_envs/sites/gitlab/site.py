"""Declares the code host's `Site`, where every handler module registers its pages."""

from __future__ import annotations

from pathlib import Path

from agentgym_envs.sites.gitlab.prose import prose
from agentgym_envs.sites.signing_in import add_signing_in
from agentgym_envs.sites.web import Site

SITE = Site("gitlab", "Forgeyard", Path(__file__).parent, user_table="users")
add_signing_in(SITE)
SITE.environment.filters["prose"] = prose
