"""Declares the administration's `Site`, where every handler module registers its pages."""

from __future__ import annotations

from pathlib import Path

from agentgym_envs.sites.signing_in import add_signing_in
from agentgym_envs.sites.web import Site

SITE = Site(
    "shopping_admin", "Larder & Loom administration", Path(__file__).parent, user_table="admins"
)
add_signing_in(SITE, is_active=lambda user: bool(user["is_active"]))
