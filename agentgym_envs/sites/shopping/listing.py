"""Lists of products: a category's or a search's, filtered, sorted and cut into pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.shopping.fields import Texts, cents_of
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 12

COLUMNS = (
    "p.id, p.name, p.slug, p.brand, p.colour, p.price, p.stock, p.created_at, "
    "(SELECT name FROM categories WHERE id = p.category_id) AS category, "
    "coalesce(p.special_price, p.price) AS cost, "
    "(SELECT count(*) FROM reviews r WHERE r.product_id = p.id AND r.status = 'approved') "
    "AS reviews, "
    "(SELECT round(avg(r.rating), 1) FROM reviews r WHERE r.product_id = p.id "
    "AND r.status = 'approved') AS stars"
)
"""What a list shows of products p: `cost` is what is paid, `stars` the mean or NULL."""

_Key = Callable[[sqlite3.Row], Any]
_SORTS: dict[str, tuple[str, _Key]] = {
    "featured": ("Featured", lambda row: row["id"]),
    "price": ("Price: low to high", lambda row: row["cost"]),
    "price-down": ("Price: high to low", lambda row: -row["cost"]),
    "name": ("Name", lambda row: row["name"]),
    "stars": ("Best rated", lambda row: (-(row["stars"] or 0), -row["reviews"])),
    "reviews": ("Most reviewed", lambda row: -row["reviews"]),
}
SORTS = [(key, text) for key, (text, _) in _SORTS.items()] + [("newest", "Newest")]
RATINGS = (("", "Any rating"), *((str(n), f"{n} stars and up") for n in (4, 3, 2)))


@dataclass(frozen=True)
class Listing:
    """One page of a list of products.

    Attributes:
        rows: the products of this page.
        pages: where it stands in the list.
        brands: options of the filter.
        colours: options of the filter.
        errors: what is wrong with the filter's fields.
        is_filtered: whether any filter is set.
    """

    rows: list[sqlite3.Row]
    pages: Pages
    brands: list[tuple[str, str]]
    colours: list[tuple[str, str]]
    errors: Texts
    is_filtered: bool


def list_products(context: RequestContext, condition: str, *values: Any) -> Listing:
    """List the enabled products that fulfil an SQL condition on products p and categories c.

    Filters, order and page number are read from the address.
    """
    rows = context.rows(
        f"SELECT {COLUMNS} FROM products p JOIN categories c ON c.id = p.category_id "
        f"WHERE p.is_enabled AND {condition} ORDER BY p.id",
        *values,
    )
    errors = Texts()
    filtered = _filter(context, rows, errors)
    sort = context.field("sort")
    if sort == "newest":
        filtered.sort(key=lambda row: str(row["created_at"]), reverse=True)
    elif sort in _SORTS:
        filtered.sort(key=_SORTS[sort][1])
    pages = Pages.of(context, len(filtered), PAGE_SIZE)
    return Listing(
        filtered[pages.offset : pages.offset + PAGE_SIZE],
        pages,
        [("", "Any brand"), *_options(rows, "brand")],
        [("", "Any colour"), *_options(rows, "colour")],
        errors,
        any(context.field(name) for name in ("min", "max", "brand", "colour", "stars", "stock")),
    )


def _filter(context: RequestContext, rows: list[sqlite3.Row], errors: Texts) -> list[sqlite3.Row]:
    bounds: dict[str, int | None] = {}
    for name in ("min", "max"):
        text = context.field(name)
        bounds[name] = cents_of(text) if text else None
        if text and bounds[name] is None:
            errors[name] = "Please write an amount like 12.50."
    least, most = bounds["min"], bounds["max"]
    brand, colour = context.field("brand"), context.field("colour")
    stars = context.number("stars")
    in_stock = context.field("stock") == "1"
    return [
        row
        for row in rows
        if (least is None or row["cost"] >= least)
        and (most is None or row["cost"] <= most)
        and brand in ("", row["brand"])
        and colour in ("", row["colour"])
        and (not stars or (row["stars"] or 0) >= stars)
        and (not in_stock or row["stock"] > 0)
    ]


def _options(rows: list[sqlite3.Row], column: str) -> list[tuple[str, str]]:
    return [(value, value) for value in sorted({row[column] for row in rows} - {""})]
