"""Home page, categories and search."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.shopping.listing import (
    COLUMNS,
    RATINGS,
    SORTS,
    list_products,
)
from agentgym_envs.sites.shopping.search import matching
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

SHOWN_AT_HOME = 5


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
    row = context.row("SELECT * FROM categories WHERE slug = ?", slug)
    if row is None:
        raise NotFound("There is no such category.")
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
    """List what a search finds."""
    condition, values = matching(context.field("q"))
    return context.render(
        "search.html",
        query=context.field("q"),
        listing=list_products(context, condition, *values),
        sorts=SORTS,
        ratings=RATINGS,
    )
