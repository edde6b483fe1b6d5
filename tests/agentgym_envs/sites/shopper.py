"""A customer of the shop: requests and answers, and the database behind."""

from __future__ import annotations

import re
from typing import Any

from lxml import html

from agentgym_envs.browsing.text.fetch import Answer, fetch
from agentgym_envs.sites.state import SiteState

ORIGIN = "http://shopping.test"


class Shopper:
    """Somebody with a browser, without its page."""

    def __init__(self, *, user_id: int | None = 1) -> None:
        self.state = SiteState()
        self.cookies: dict[str, str] = {}
        if user_id is not None:
            self.cookies["session"] = self.state.sign_in("shopping", user_id)

    def get(self, path: str) -> Answer:
        return self._keep(fetch(self.state, ORIGIN + path, cookies=self.cookies))

    def post(self, path: str, **form: str) -> Answer:
        pairs = list(form.items())
        return self._keep(fetch(self.state, ORIGIN + path, form=pairs, cookies=self.cookies))

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.state.database("shopping").execute(query, values)]

    def value(self, query: str, *values: object) -> Any:
        return self.rows(query, *values)[0][0]

    def text(self, path: str) -> str:
        """Return a page's text in one line."""
        return " ".join(html.fromstring(self.get(path).body).text_content().split())

    def names(self, path: str) -> list[str]:
        """Return the names of the products that a page lists."""
        return [
            " ".join(name.split())
            for name in html.fromstring(self.get(path).body).xpath(
                "//li[contains(@class, 'tile')]//h3//a/text()"
            )
        ]

    def total(self, path: str) -> int:
        """Return how many products a list says it has."""
        match = re.search(r"([\d,]+) products?", self.text(path))
        assert match is not None
        return int(match[1].replace(",", ""))

    def fill_cart(self, product_id: int, quantity: int) -> None:
        slug = self.value("SELECT slug FROM products WHERE id = ?", product_id)
        self.post(f"/product/{slug}/cart", quantity=str(quantity))

    def on_sale(self, stock: int = 10) -> int:
        """Return the id of a product of which there is enough."""
        query = "SELECT id FROM products WHERE is_enabled AND stock >= ? ORDER BY id"
        return int(self.value(query, stock))

    def _keep(self, answer: Answer) -> Answer:
        cookie = answer.header("set-cookie")
        if cookie:
            self.cookies["session"] = cookie.split(";")[0].partition("=")[2]
        return answer
