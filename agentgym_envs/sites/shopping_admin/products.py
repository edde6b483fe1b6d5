"""The grid of products and what is done to many of them at once."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.filters import count
from agentgym_envs.sites.shopping_admin.entries import read_whole
from agentgym_envs.sites.shopping_admin.grids import Grid
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import RequestContext

SORTING = {
    "name": ("Name", "p.name, p.id"),
    "cheapest": ("Price: low to high", "p.price, p.id"),
    "dearest": ("Price: high to low", "p.price DESC, p.id"),
    "scarcest": ("Stock: low to high", "p.stock, p.id"),
    "newest": ("Newest first", "p.created_at DESC, p.id DESC"),
}
MASS_ACTIONS = (("enable", "Enable"), ("disable", "Disable"), ("stock", "Set stock"))
HIGHEST_STOCK = 99999


@SITE.get("/products", signed_in=True)
def products(context: RequestContext) -> Response:
    """List products."""
    source = (
        "products p JOIN categories c ON c.id = p.category_id "
        "LEFT JOIN categories above ON above.id = c.parent_id"
    )
    grid = Grid(context, source, SORTING)
    grid.contains("name", "p.name")
    grid.contains("sku", "p.sku")
    grid.contains("brand", "p.brand")
    grid.contains("category", "c.name", "coalesce(above.name, '')")
    status = context.field("status")
    if status in ("enabled", "disabled"):
        grid.add("p.is_enabled = ?", int(status == "enabled"))
    grid.below("stock", "p.stock")
    grid.amounts("p.price")
    rows, pages = grid.rows(
        "p.id, p.sku, p.name, p.price, p.special_price, p.stock, p.is_enabled, c.name AS category"
    )
    return context.render("products.html", rows=rows, pages=pages, grid=grid, actions=MASS_ACTIONS)


@SITE.post("/products/mass", signed_in=True)
def change_many(context: RequestContext) -> Response:
    """Enable, disable or restock the ticked products."""
    back = context.way_back("/products", name="back")
    action = context.field("action")
    skus = list(dict.fromkeys(context.fields("product")))
    stock = read_whole(context.field("new_stock"))
    if action not in dict(MASS_ACTIONS):
        context.flash("Choose what to do with the products.", "error")
    elif not skus:
        context.flash("Tick at least one product.", "error")
    elif action == "stock" and (stock is None or not 0 <= stock <= HIGHEST_STOCK):
        context.flash(f"New stock must be a whole number from 0 to {HIGHEST_STOCK}.", "error")
    else:
        column, value = (
            ("stock", stock) if action == "stock" else ("is_enabled", action == "enable")
        )
        done = 0
        for sku in skus:
            done += context.db.execute(
                f"UPDATE products SET {column} = ? WHERE sku = ?", (value, sku)
            ).rowcount
        context.flash(f"{count(done, 'product')} changed.")
    return context.redirect(back)
