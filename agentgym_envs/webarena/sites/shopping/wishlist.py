"""The wish list."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.paging import Pages
from agentgym_envs.webarena.sites.shopping.cart import put_in_cart, quantity_of
from agentgym_envs.webarena.sites.shopping.product import product_of
from agentgym_envs.webarena.sites.shopping.site import SITE
from agentgym_envs.webarena.sites.web import NotFound, Visit

PER_PAGE = 8


@SITE.get("/account/wishlist", signed_in=True)
def wishlist(visit: Visit) -> Response:
    """List the wishes."""
    assert visit.user is not None
    customer = visit.user["id"]
    total = visit.value("SELECT count(*) FROM wishlist_items WHERE customer_id = ?", customer)
    pages = Pages.of(visit, total, PER_PAGE)
    return visit.render(
        "wishlist.html",
        pages=pages,
        items=visit.rows(
            "SELECT w.id, w.comment, p.name, p.slug, p.stock, p.is_enabled, p.price, "
            "coalesce(p.special_price, p.price) AS cost FROM wishlist_items w "
            "JOIN products p ON p.id = w.product_id WHERE w.customer_id = ? "
            "ORDER BY w.id LIMIT ? OFFSET ?",
            *(customer, pages.size, pages.offset),
        ),
    )


@SITE.post("/product/{slug}/wish")
def add(visit: Visit, slug: str) -> Response:
    """Put a product on the wish list."""
    product = product_of(visit, slug)
    if visit.user is None:
        return visit.redirect(f"/login?next=/product/{slug}")
    known = visit.row(
        "SELECT 1 FROM wishlist_items WHERE customer_id = ? AND product_id = ?",
        *(visit.user["id"], product["id"]),
    )
    if known is not None:
        visit.flash(f"{product['name']} is on your wish list already.", "notice")
    else:
        visit.run(
            "INSERT INTO wishlist_items (customer_id, product_id) VALUES (?, ?)",
            *(visit.user["id"], product["id"]),
        )
        visit.flash(f"{product['name']} is now on your wish list.")
    return visit.redirect(f"/product/{slug}")


@SITE.post("/account/wishlist/{item}/remove", signed_in=True)
def remove(visit: Visit, item: str) -> Response:
    """Take a product off the wish list."""
    name = _item(visit, item)[1]
    visit.run("DELETE FROM wishlist_items WHERE id = ?", item)
    visit.flash(f"{name} was removed from your wish list.")
    return _back(visit)


@SITE.post("/account/wishlist/{item}/move", signed_in=True)
def move(visit: Visit, item: str) -> Response:
    """Move a product to the cart, if there is enough of it."""
    product_id, name = _item(visit, item)
    quantity = quantity_of(visit)
    problem = put_in_cart(visit, product_id, quantity) if quantity else "Quantity: 1 to 99."
    if problem:
        visit.flash(problem, "error")
    else:
        visit.run("DELETE FROM wishlist_items WHERE id = ?", item)
        visit.flash(f"{name} was moved to your cart.")
    return _back(visit)


def _back(visit: Visit) -> Response:
    page = visit.number("page", 1)
    return visit.redirect("/account/wishlist" + (f"?page={page}" if page > 1 else ""))


def _item(visit: Visit, item: str) -> tuple[int, str]:
    assert visit.user is not None
    row = visit.row(
        "SELECT w.product_id, p.name FROM wishlist_items w JOIN products p ON p.id = w.product_id "
        "WHERE w.id = ? AND w.customer_id = ?",
        *(item, visit.user["id"]),
    )
    if row is None:
        raise NotFound("This is not on your wish list.")
    return row["product_id"], row["name"]
