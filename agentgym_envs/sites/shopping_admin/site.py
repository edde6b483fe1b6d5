"""Declares the administration's `Site`, where every handler module registers its pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentgym_envs.sites.forms import Fields
from agentgym_envs.sites.signing_in import add_signing_in
from agentgym_envs.sites.web import Site

SITE = Site(
    "shopping_admin", "Larder & Loom administration", Path(__file__).parent, user_table="admins"
)
add_signing_in(SITE, is_active=lambda user: bool(user["is_active"]))


class AdminFields(Fields):
    """The fields of a form of the administration."""

    refused = 200

    def clean(self, text: str) -> str:
        """Normalize line ends. Browsers send CR LF from a text area."""
        return text.replace("\r\n", "\n")

    def chosen(self, name: str, allowed: Sequence[str]) -> str:
        """Read the choice from a list box."""
        return self.choice(name, allowed, f"Choose one of the values for the {name}.")
