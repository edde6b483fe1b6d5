"""Writing a review, and the list of one's own."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.shopping.fields import Fields, Texts
from agentgym_envs.sites.shopping.product import product_of
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext

RATINGS = [(str(n), f"{n} stars" if n > 1 else "1 star") for n in range(1, 6)]
PER_PAGE = 8


@SITE.get("/product/{slug}/review", signed_in=True)
def form(context: RequestContext, slug: str) -> Response:
    """Show an empty form."""
    assert context.user is not None
    values = Texts(nickname=context.user["name"].partition(" ")[0])
    return _form(context, slug, Fields(context), values)


@SITE.post("/product/{slug}/review", signed_in=True)
def write(context: RequestContext, slug: str) -> Response:
    """Store a review; it is shown once the shop has approved it."""
    assert context.user is not None
    product = product_of(context, slug)
    fields = Fields(context)
    rating = fields.choice("rating", [key for key, _ in RATINGS], "Please choose a rating.")
    nickname = fields.text("nickname", "Nickname", most=40)
    title = fields.text("title", "Title", most=100)
    body = fields.text("body", "Review", least=5, most=2000)
    if not fields.is_valid:
        return _form(context, slug, fields, fields.values)
    context.run(
        "INSERT INTO reviews (product_id, customer_id, nickname, title, body, rating, status, "
        "created_at) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)",
        *(product["id"], context.user["id"], nickname, title, body, int(rating), context.now),
    )
    context.flash("Thank you for your review. It will be shown after a check by our staff.")
    return context.redirect(f"/product/{slug}")


@SITE.get("/account/reviews", signed_in=True)
def mine(context: RequestContext) -> Response:
    """List the reviews that the visitor has written."""
    assert context.user is not None
    customer = context.user["id"]
    total = context.value("SELECT count(*) FROM reviews WHERE customer_id = ?", customer)
    pages = Pages.of(context, total, PER_PAGE)
    return context.render(
        "my_reviews.html",
        pages=pages,
        reviews=context.rows(
            "SELECT r.*, p.name AS product, p.slug FROM reviews r "
            "JOIN products p ON p.id = r.product_id WHERE r.customer_id = ? "
            "ORDER BY r.created_at DESC, r.id DESC LIMIT ? OFFSET ?",
            *(customer, pages.size, pages.offset),
        ),
    )


def _form(context: RequestContext, slug: str, fields: Fields, values: Texts) -> Response:
    return context.render(
        "review.html",
        status=200 if fields.is_valid else 422,
        product=product_of(context, slug),
        ratings=RATINGS,
        values=values,
        errors=fields.errors,
    )
