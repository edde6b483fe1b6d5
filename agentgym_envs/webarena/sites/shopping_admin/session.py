"""Signing in and out of the administration."""

from __future__ import annotations

from agentgym_envs.webarena.sites.shopping_admin.site import SITE
from agentgym_envs.webarena.sites.signing_in import add_signing_in

add_signing_in(SITE, is_active=lambda user: bool(user["is_active"]))
