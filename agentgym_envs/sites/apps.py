"""Loads the embedded sites by name, each when it is first visited."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from agentgym_envs.sites.names import SITES
from agentgym_envs.sites.web import Site


@cache
def open_site(name: str) -> Site:
    """Return a site with all its pages, which the modules of its package register.

    Raises:
        ValueError: there is no such site.
    """
    if name not in SITES:
        raise ValueError(f"unknown site {name!r}; allowed: {', '.join(SITES)}")
    package = importlib.import_module(f"agentgym_envs.sites.{name}")
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    site: Site = importlib.import_module(f"{package.__name__}.site").SITE
    return site
