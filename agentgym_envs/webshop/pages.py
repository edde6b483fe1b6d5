"""The shop's pages, and how searches and clicks lead from one to another.

Knows what a page holds, and not how it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from agentgym_envs.retrieval.protocol import Retriever
from agentgym_envs.webshop.catalogue import Product, Shop

PAGE_SIZE = 10
MOST_HITS = 50
"""Products that a search finds at most."""

SEARCH, BACK_TO_SEARCH, BUY_NOW = "Search", "Back to Search", "Buy Now"
NEXT_PAGE, PREVIOUS_PAGE = "Next >", "< Prev"
SUB_PAGES = ("Description", "Features", "Reviews")


@dataclass(frozen=True)
class Page:
    """The page that a shopper looks at.

    Attributes:
        kind: a page with the search bar, with hits, about a product, about one side of it, or
            the thanks for a purchase.
        query: what was searched for.
        number: the page of the hits, from 1.
        product: that the page is about.
        side: one of `SUB_PAGES`.
        chosen: options of the product by name.
    """

    kind: Literal["search", "results", "product", "side", "bought"]
    query: str = ""
    number: int = 1
    product: Product | None = None
    side: str = ""
    chosen: dict[str, str] = field(default_factory=dict)


class Visit:
    """One shopper's way through the pages.

    Args:
        shop: where.
        retriever: searches the shop's corpus.
        is_original: there is a next page of hits behind the last one, and a search bar everywhere.
    """

    def __init__(self, shop: Shop, retriever: Retriever, *, is_original: bool) -> None:
        self.shop = shop
        self.page = Page("search")
        self.hits: Sequence[Product] = ()
        self._retriever = retriever
        self._is_original = is_original

    @property
    def has_search_bar(self) -> bool:
        """Something can be searched for here."""
        return self.page.kind == "search" or (self._is_original and self.page.kind != "bought")

    @property
    def shown_hits(self) -> Sequence[Product]:
        """The products on this page of the hits."""
        first = (self.page.number - 1) * PAGE_SIZE
        return self.hits[first : first + PAGE_SIZE]

    @property
    def buttons(self) -> list[str]:
        """The clicks besides products and options, in the page's order."""
        if self.page.kind == "results":
            is_last = len(self.hits) <= self.page.number * PAGE_SIZE
            return [
                BACK_TO_SEARCH,
                *([PREVIOUS_PAGE] if self.page.number > 1 else []),
                *([NEXT_PAGE] if self._is_original or not is_last else []),
            ]
        if self.page.kind == "product":
            return [BACK_TO_SEARCH, PREVIOUS_PAGE, *SUB_PAGES, BUY_NOW]
        return [BACK_TO_SEARCH, PREVIOUS_PAGE] if self.page.kind == "side" else []

    @property
    def clickables(self) -> list[str]:
        """All that can be clicked, in lower case."""
        names = [name.lower() for name in self.buttons]
        if self.page.kind == "results":
            names += [product.asin.lower() for product in self.shown_hits]
        if self.page.kind == "product":
            names += self._option_names
        return list(dict.fromkeys(names))

    @property
    def _option_names(self) -> dict[str, str]:
        """By value the option that it is one of."""
        product = self.page.product
        assert product is not None
        return {value: name for name, values in product.options.items() for value in values}

    def search(self, query: str) -> None:
        """Look for products."""
        hits = self._retriever.search(query, MOST_HITS)
        self.hits = [self.shop.products[hit.passage.passage_id] for hit in hits]
        self.page = Page("results", query)

    def click(self, name: str) -> bool:
        """Click on something.

        Args:
            name: one of `clickables`; another one changes nothing.

        Returns:
            Whether there is such a thing here.
        """
        if name not in self.clickables:
            return False
        self.page = self._page_behind(name)
        return True

    def _page_behind(self, name: str) -> Page:
        page = self.page
        if name == BACK_TO_SEARCH.lower():
            return Page("search")
        if page.kind == "results":
            if name in (NEXT_PAGE.lower(), PREVIOUS_PAGE.lower()):
                step = 1 if name == NEXT_PAGE.lower() else -1
                return replace(page, number=page.number + step)
            return replace(page, kind="product", product=self.shop.by_asin[name], chosen={})
        if name == PREVIOUS_PAGE.lower():
            if page.kind == "side":
                return replace(page, kind="product", side="")
            return Page("results", page.query, page.number)
        if name == BUY_NOW.lower():
            return replace(page, kind="bought")
        for side in SUB_PAGES:
            if name == side.lower():
                return replace(page, kind="side", side=side)
        return replace(page, chosen={**page.chosen, self._option_names[name]: name})
