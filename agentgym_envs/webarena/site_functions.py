"""The embedded sites' part of the helper functions that WebArena's evaluators call.

The real sites answer them over their own interfaces; ours read the episode's databases.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from agentgym_envs.browsing import Browser
from agentgym_envs.sites.names import ORIGINS
from agentgym_envs.sites.state import SiteState

_PERCENT_PER_STAR = 20


class EmbeddedFunctions:
    """Answers from the databases of one episode.

    Args:
        state: the databases.
    """

    def __init__(self, state: SiteState) -> None:
        self._state = state

    def latest_order_url(self) -> str:
        """Return the address of the shop's newest order, or ""."""
        row = self._row(
            "shopping", "SELECT number FROM orders ORDER BY created_at DESC, id DESC LIMIT 1"
        )
        return "" if row is None else f"{ORIGINS['shopping']}/account/orders/{row[0]}"

    def latest_review(self, sku: str) -> tuple[str, str]:
        """Return (author, rating in percent) of a product's newest review, or ""."""
        row = self._row(
            "shopping",
            "SELECT r.nickname, r.rating FROM reviews r JOIN products p ON p.id = r.product_id "
            "WHERE p.sku = ? ORDER BY r.id DESC LIMIT 1",
            sku,
        )
        return ("", "") if row is None else (row[0], str(row[1] * _PERCENT_PER_STAR))

    def member_role(self, browser: Browser, url: str, username: str) -> str:
        """Return a person's role in the project of an address, or ""."""
        address = browser.page().url if url == "last" else url
        owner, _, rest = urlsplit(address).path.strip("/").partition("/")
        row = self._row(
            "gitlab",
            "SELECT m.role FROM members m JOIN users u ON u.id = m.user_id "
            "JOIN projects p ON p.id = m.project_id JOIN users o ON o.id = p.owner_id "
            "WHERE o.username = ? AND p.slug = ? AND u.username = ?",
            owner,
            rest.partition("/")[0],
            username,
        )
        return "" if row is None else str(row[0])

    def _row(self, site: str, query: str, *values: Any) -> Any:
        return self._state.database(site).execute(query, values).fetchone()
