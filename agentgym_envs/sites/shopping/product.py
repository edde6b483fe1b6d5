"""The page of one product."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.shopping.listing import COLUMNS
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

REVIEWS_PER_PAGE = 6
STARS = [
    ("", "All ratings"),
    *((str(n), f"{n} stars" if n > 1 else "1 star") for n in (5, 4, 3, 2, 1)),
]


def product_of(context: RequestContext, slug: str) -> sqlite3.Row:
    """Return an enabled product, with `cost`, `reviews` and `stars`.

    Raises:
        NotFound: there is none.
    """
    row = context.row(
        f"SELECT {COLUMNS}, p.* FROM products p WHERE p.slug = ? AND p.is_enabled", slug
    )
    if row is None:
        raise NotFound("There is no such product, or it is no longer sold.")
    return row


@SITE.get("/product/{slug}")
def product(context: RequestContext, slug: str) -> Response:
    """Show a product, its variants and its reviews."""
    row = product_of(context, slug)
    family = row["name"].split(",")[0]
    category = context.row("SELECT * FROM categories WHERE id = ?", row["category_id"])
    assert category is not None  # a foreign key
    stars = context.number("stars")
    condition = "product_id = ? AND status = 'approved' AND (? = 0 OR rating = ?)"
    values = (row["id"], stars, stars)
    shown = context.value(f"SELECT count(*) FROM reviews WHERE {condition}", *values)
    pages = Pages.of(context, shown, REVIEWS_PER_PAGE)
    return context.render(
        "product.html",
        product=row,
        category=category,
        parent=context.row("SELECT * FROM categories WHERE id = ?", category["parent_id"]),
        variants=context.rows(
            "SELECT name, slug FROM products WHERE category_id = ? AND is_enabled AND id != ? "
            "AND (name = ? OR substr(name, 1, ?) = ?) ORDER BY id",
            *(row["category_id"], row["id"], family, len(family) + 1, f"{family},"),
        ),
        reviews=context.rows(
            f"SELECT * FROM reviews WHERE {condition} ORDER BY created_at DESC, id DESC "
            "LIMIT ? OFFSET ?",
            *(*values, pages.size, pages.offset),
        ),
        pages=pages,
        stars=STARS,
    )
