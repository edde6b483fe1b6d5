"""Declares the map's `Site`, where every handler module registers its pages."""

from __future__ import annotations

from pathlib import Path

from agentgym_envs.sites.forms import Fields
from agentgym_envs.sites.people import PASSWORD
from agentgym_envs.sites.signing_in import add_signing_in
from agentgym_envs.sites.web import Site

SITE = Site("map", "Wayfinder", Path(__file__).parent, user_table="users")
# The map keeps no passwords of its own.
add_signing_in(SITE, password_of=lambda user: PASSWORD)


class MapFields(Fields):
    """The fields of a form of the map."""

    required = "Give the list a {label}."
    too_long = "The {label} has {length} characters; at most {most} fit."
