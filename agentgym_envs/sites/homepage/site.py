"""The home page's one page, and its `Site`."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from agentgym_envs.sites.web import RequestContext, Site

SITE = Site("homepage", "Homepage", Path(__file__).parent)


@SITE.get("/")
def index(context: RequestContext) -> Response:
    """List the sites."""
    return context.render("index.html")
