"""Signing in and out; the map keeps no passwords of its own."""

from __future__ import annotations

from agentgym_envs.webarena.sites.map.site import SITE
from agentgym_envs.webarena.sites.people import PASSWORD
from agentgym_envs.webarena.sites.signing_in import add_signing_in

add_signing_in(SITE, password_of=lambda user: PASSWORD)
