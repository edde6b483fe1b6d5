"""Loads the embedded sites by name, each when it is first visited."""

from __future__ import annotations

import importlib
from functools import cache

from agentgym_envs.sites.names import SITES
from agentgym_envs.sites.web import Site


@cache
def open_site(name: str) -> Site:
    """Return a site with all its pages.

    Raises:
        ValueError: there is no such site.
    """
    if name not in SITES:
        raise ValueError(f"unknown site {name!r}; allowed: {', '.join(SITES)}")
    module = importlib.import_module(f"agentgym_envs.sites.{name}.app")
    site: Site = module.SITE
    return site
