"""Calls the official sites' interfaces for the evaluators' helper functions."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote, urlencode

from agentgym_envs.browsing import Browser
from agentgym_envs.errors import EnvFailure
from agentgym_envs.webarena.official.accounts import Account

_SECONDS = 30.0

_ROLE = """(() => {
  const names = [...document.querySelectorAll(
    "td[data-label='Account'] span.gl-avatar-labeled-sublabel")].map(one => one.outerText);
  const role = document.querySelectorAll("td.col-max-role span")[names.indexOf(%s)];
  return role ? role.outerText : "";
})()"""


class OfficialFunctions:
    """Asks the shop's REST interface and GitLab's members page.

    Args:
        shop: the shop's address.
        administrator: whose token opens the interface.
    """

    def __init__(self, shop: str, administrator: Account) -> None:
        self._shop = shop.rstrip("/")
        self._administrator = administrator

    def latest_order_url(self) -> str:
        """Return the address of the shop's newest order, or ""."""
        query = urlencode(
            {
                "searchCriteria[sortOrders][0][field]": "created_at",
                "searchCriteria[sortOrders][0][direction]": "DESC",
                "searchCriteria[pageSize]": "1",
            }
        )
        orders = self._ask(f"/rest/V1/orders?{query}", self._token())["items"]
        if not orders:
            return ""
        return f"{self._shop}/sales/order/view/order_id/{int(orders[0]['increment_id'])}/"

    def latest_review(self, sku: str) -> tuple[str, str]:
        """Return (author, rating in percent) of a product's newest review, or ""."""
        reviews = self._ask(f"/rest/V1/products/{quote(sku, safe='')}/reviews", self._token())
        if not reviews:
            return "", ""
        return reviews[-1]["nickname"], str(reviews[-1]["ratings"][0]["percent"])

    def member_role(self, browser: Browser, url: str, username: str) -> str:
        """Return a person's role on a project's members page, or ""."""
        return browser.look_up(url, _ROLE % json.dumps(f"@{username}"))

    def _token(self) -> str:
        account = {
            "username": self._administrator.username,
            "password": self._administrator.password,
        }
        return str(self._ask("/rest/default/V1/integration/admin/token", body=account))

    def _ask(self, path: str, token: str = "", *, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._shop + path, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            raise EnvFailure(
                f"the shop does not answer {path.partition('?')[0]}: {error}"
            ) from error
