"""What a browser is opened with: databases and cookies of an agent that is signed in."""

from __future__ import annotations

from agentgym_envs.sites.names import DATABASES
from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.state import SiteState, first_token

COOKIES = {site: {"session": first_token(site)} for site in DATABASES}


def signed_in() -> SiteState:
    """Return an episode's databases, with the agent signed in everywhere."""
    return SiteState(signed_in=dict.fromkeys(DATABASES, AGENT_ID))
