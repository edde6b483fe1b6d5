"""The wish list."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.shopping.cart import posted_quantity, put_in_cart
from agentgym_envs.sites.shopping.product import find_product
from agentgym_envs.sites.shopping.site import SITE
from agentgym_envs.sites.web import RequestContext

PER_PAGE = 8


@SITE.get("/account/wishlist", signed_in=True)
def wishlist(context: RequestContext) -> Response:
    """List the wishes."""
    listing = Listing(context, "wishlist_items w", size=PER_PAGE)
    items, pages = listing.where("w.customer_id = ?", context.user_id).rows(
        "w.id, w.comment, p.name, p.slug, p.stock, p.is_enabled, p.price, "
        "coalesce(p.special_price, p.price) AS cost",
        joined="JOIN products p ON p.id = w.product_id",
        order="w.id",
    )
    return context.render("wishlist.html", pages=pages, items=items)


@SITE.post("/product/{slug}/wish")
def add(context: RequestContext, slug: str) -> Response:
    """Put a product on the wish list."""
    product = find_product(context, slug)
    if context.user is None:
        return context.redirect(f"/login?next=/product/{slug}")
    if context.row(
        "SELECT 1 FROM wishlist_items WHERE customer_id = ? AND product_id = ?",
        *(context.user_id, product["id"]),
    ):
        context.flash(f"{product['name']} is on your wish list already.", "notice")
    else:
        context.insert("wishlist_items", customer_id=context.user_id, product_id=product["id"])
        context.flash(f"{product['name']} is now on your wish list.")
    return context.redirect(f"/product/{slug}")


@SITE.post("/account/wishlist/{item}/remove", signed_in=True)
def remove(context: RequestContext, item: str) -> Response:
    """Take a product off the wish list."""
    name = _item(context, item)["name"]
    context.run("DELETE FROM wishlist_items WHERE id = ?", item)
    context.flash(f"{name} was removed from your wish list.")
    return _back(context)


@SITE.post("/account/wishlist/{item}/move", signed_in=True)
def move(context: RequestContext, item: str) -> Response:
    """Move a product to the cart, if there is enough of it."""
    product_id, name = _item(context, item)
    quantity = posted_quantity(context)
    problem = put_in_cart(context, product_id, quantity) if quantity else "Quantity: 1 to 99."
    if problem:
        context.flash(problem, "error")
    else:
        context.run("DELETE FROM wishlist_items WHERE id = ?", item)
        context.flash(f"{name} was moved to your cart.")
    return _back(context)


def _back(context: RequestContext) -> Response:
    page = context.number("page", 1)
    return context.redirect("/account/wishlist" + (f"?page={page}" if page > 1 else ""))


def _item(context: RequestContext, item: str) -> sqlite3.Row:
    return context.find(
        "This is not on your wish list.",
        "SELECT w.product_id, p.name FROM wishlist_items w JOIN products p ON p.id = w.product_id "
        "WHERE w.id = ? AND w.customer_id = ?",
        *(item, context.user_id),
    )
