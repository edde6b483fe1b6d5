"""Home page, categories and search: lists of products, filtered, sorted and cut into pages."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.forms import Texts
from agentgym_envs.sites.listing import Listing, Pages, order_choices
from agentgym_envs.sites.shopping.search import matching
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext

SHOWN_AT_HOME = 5
PAGE_SIZE = 12
_COST = "coalesce(p.special_price, p.price)"
_APPROVED = "FROM reviews r WHERE r.product_id = p.id AND r.status = 'approved'"
_STARS = f"(SELECT round(avg(r.rating), 1) {_APPROVED})"
COLUMNS = (
    "p.id, p.name, p.slug, p.brand, p.colour, p.price, p.stock, p.created_at, "
    "(SELECT name FROM categories WHERE id = p.category_id) AS category, "
    f"{_COST} AS cost, (SELECT count(*) {_APPROVED}) AS reviews, {_STARS} AS stars"
)
"""Columns of products p in a list: `cost` is the sales price, `stars` the mean or NULL."""
_ORDERS = {
    "featured": ("Featured", "p.id"),
    "price": ("Price: low to high", "cost, p.id"),
    "price-down": ("Price: high to low", "cost DESC, p.id"),
    "name": ("Name", "p.name, p.id"),
    "stars": ("Best rated", "coalesce(stars, 0) DESC, reviews DESC, p.id"),
    "reviews": ("Most reviewed", "reviews DESC, p.id"),
    "newest": ("Newest", "p.created_at DESC, p.id"),
}
SORTS = order_choices(_ORDERS)
RATINGS = (("", "Any rating"), *((str(n), f"{n} stars and up") for n in (4, 3, 2)))


@dataclass(frozen=True)
class Products:
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


@SITE.get("/")
def home(context: RequestContext) -> Response:
    """Show featured and new products."""
    select = f"SELECT {COLUMNS} FROM products p WHERE p.is_enabled"
    return context.render(
        "home.html",
        featured=context.rows(
            f"{select} AND p.is_featured ORDER BY p.id * 37 % 101, p.id LIMIT {SHOWN_AT_HOME}"
        ),
        newest=context.rows(f"{select} ORDER BY p.created_at DESC, p.id LIMIT {SHOWN_AT_HOME}"),
    )


@SITE.get("/category/{slug}")
def category(context: RequestContext, slug: str) -> Response:
    """List a category's products and those of its sub-categories."""
    sql = "SELECT * FROM categories WHERE slug = ?"
    row = context.find("There is no such category.", sql, slug)
    return context.render(
        "category.html",
        category=row,
        parent=context.row("SELECT * FROM categories WHERE id = ?", row["parent_id"]),
        listing=list_products(
            context,
            "p.category_id IN (SELECT id FROM categories WHERE id = ? OR parent_id = ?)",
            row["id"],
            row["id"],
        ),
        sorts=SORTS,
        ratings=RATINGS,
    )


@SITE.get("/search")
def search(context: RequestContext) -> Response:
    """List the results of a search."""
    condition, values = matching(context.field("q"))
    return context.render(
        "search.html",
        query=context.field("q"),
        listing=list_products(context, condition, *values),
        sorts=SORTS,
        ratings=RATINGS,
    )


def list_products(context: RequestContext, condition: str, *values: Any) -> Products:
    """List the enabled products that fulfil an SQL condition on products p and categories c.

    Filters, order and page number are read from the address.
    """
    source = "products p JOIN categories c ON c.id = p.category_id"
    listing = Listing(context, source, _ORDERS, size=PAGE_SIZE)
    listing.where("p.is_enabled").where(condition, *values)
    brands, colours = listing.options("p.brand"), listing.options("p.colour")
    listing.amounts(_COST, message="Please write an amount like 12.50.")
    for name in ("brand", "colour"):
        if value := context.field(name):
            listing.where(f"p.{name} = ?", value)
    if stars := context.number("stars"):
        listing.where(f"coalesce({_STARS}, 0) >= ?", stars)
    if context.field("stock") == "1":
        listing.where("p.stock > 0")
    rows, pages = listing.rows(COLUMNS)
    return Products(
        rows,
        pages,
        [("", "Any brand"), *brands],
        [("", "Any colour"), *colours],
        listing.errors,
        any(context.field(name) for name in ("min", "max", "brand", "colour", "stars", "stock")),
    )
