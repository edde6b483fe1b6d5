"""The page of a product with its reviews, the review form, and the user's reviews."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.shopping.catalogue import COLUMNS
from agentgym_envs.sites.shopping.fields import ShopFields
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext

REVIEWS_PER_PAGE = 6
PER_PAGE = 8  # of one's own
RATINGS = [(str(n), f"{n} stars" if n > 1 else "1 star") for n in range(1, 6)]


def find_product(context: RequestContext, slug: str) -> sqlite3.Row:
    """Return an enabled product, with `cost`, `reviews` and `stars`.

    Raises:
        NotFound: there is none.
    """
    return context.find(
        "There is no such product, or it is no longer sold.",
        f"SELECT {COLUMNS}, p.* FROM products p WHERE p.slug = ? AND p.is_enabled",
        slug,
    )


@SITE.get("/product/{slug}")
def product(context: RequestContext, slug: str) -> Response:
    """Show a product, its variants and its reviews."""
    row = find_product(context, slug)
    family = row["name"].split(",")[0]
    category = context.row("SELECT * FROM categories WHERE id = ?", row["category_id"])
    assert category is not None  # a foreign key
    listing = Listing(context, "reviews", size=REVIEWS_PER_PAGE)
    listing.where("product_id = ? AND status = 'approved'", row["id"]).number("stars", "rating")
    reviews, pages = listing.rows("*", order="created_at DESC, id DESC")
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
        reviews=reviews,
        pages=pages,
        stars=[("", "All ratings"), *reversed(RATINGS)],
    )


@SITE.get("/product/{slug}/review", signed_in=True)
def form(context: RequestContext, slug: str) -> Response:
    """Show an empty form."""
    assert context.user is not None
    values = {"nickname": context.user["name"].partition(" ")[0]}
    return _form(ShopFields(context, values), find_product(context, slug))


@SITE.post("/product/{slug}/review", signed_in=True)
def write(context: RequestContext, slug: str) -> Response:
    """Store a review. It appears once the shop approves it."""
    product = find_product(context, slug)
    fields = ShopFields(context)
    rating = fields.choice("rating", [key for key, _ in RATINGS], "Please choose a rating.")
    nickname = fields.text("nickname", "Nickname", most=40)
    title = fields.text("title", "Title", most=100)
    body = fields.text("body", "Review", least=5, most=2000)
    if fields.errors:
        return _form(fields, product)
    context.insert(
        "reviews",
        product_id=product["id"],
        customer_id=context.user_id,
        nickname=nickname,
        title=title,
        body=body,
        rating=int(rating),
        status="pending",
        created_at=context.now,
    )
    context.flash("Thank you for your review. It will be shown after a check by our staff.")
    return context.redirect(f"/product/{slug}")


@SITE.get("/account/reviews", signed_in=True)
def mine(context: RequestContext) -> Response:
    """List the reviews that the visitor has written."""
    listing = Listing(context, "reviews r", size=PER_PAGE).where(
        "r.customer_id = ?", context.user_id
    )
    reviews, pages = listing.rows(
        "r.*, p.name AS product, p.slug",
        joined="JOIN products p ON p.id = r.product_id",
        order="r.created_at DESC, r.id DESC",
    )
    return context.render("my_reviews.html", pages=pages, reviews=reviews)


def _form(fields: ShopFields, product: sqlite3.Row) -> Response:
    return fields.page("review.html", product=product, ratings=RATINGS)
