"""Signing in and out."""

from __future__ import annotations

from agentgym_envs.webarena.sites.gitlab.site import SITE
from agentgym_envs.webarena.sites.signing_in import add_signing_in

add_signing_in(SITE)
