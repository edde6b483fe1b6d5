"""Products: the grid with its mass actions, and the forms for new and existing ones."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.core.text import counted
from agentgym_envs.sites.forms import read_whole, write_amount
from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.shopping_admin.site import SITE, AdminFields
from agentgym_envs.sites.web import RequestContext, read_id

SORTING = {
    "name": ("Name", "p.name, p.id"),
    "cheapest": ("Price: low to high", "p.price, p.id"),
    "dearest": ("Price: high to low", "p.price DESC, p.id"),
    "scarcest": ("Stock: low to high", "p.stock, p.id"),
    "newest": ("Newest first", "p.created_at DESC, p.id DESC"),
}
MASS_ACTIONS = (("enable", "Enable"), ("disable", "Disable"), ("stock", "Set stock"))
HIGHEST_STOCK = 99999
_SKU = r"[A-Za-z0-9-]{3,20}"


@SITE.get("/products", signed_in=True)
def products(context: RequestContext) -> Response:
    """List products."""
    source = (
        "products p JOIN categories c ON c.id = p.category_id "
        "LEFT JOIN categories above ON above.id = c.parent_id"
    )
    grid = Listing(context, source, SORTING)
    grid.contains("name", "p.name")
    grid.contains("sku", "p.sku")
    grid.contains("brand", "p.brand")
    grid.contains("category", "c.name", "coalesce(above.name, '')")
    status = context.field("status")
    if status in ("enabled", "disabled"):
        grid.where("p.is_enabled = ?", int(status == "enabled"))
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
        context.flash(f"{counted(done, 'product')} changed.")
    return context.redirect(back)


@SITE.get("/products/new", signed_in=True)
def new_product(context: RequestContext) -> Response:
    """Show an empty form."""
    values = {"is_enabled": True, "stock": "0", "weight_grams": "0"}
    return _form(AdminFields(context, values), None)


@SITE.post("/products/new", signed_in=True)
def add_product(context: RequestContext) -> Response:
    """Add a product."""
    product, fields = _read(context, 0)
    if fields.errors:
        return _form(fields, None)
    product |= {"slug": _free_slug(context, product["name"]), "created_at": context.now}
    context.insert("products", **product)
    context.flash(f"{product['name']} was added.")
    return context.redirect(f"/products?sku={product['sku']}")


@SITE.get("/products/{product_id}", signed_in=True)
def edit_product(context: RequestContext, product_id: str) -> Response:
    """Show the form of a product."""
    row = _find_product(context, product_id)
    values = dict(row) | {
        "price": write_amount(row["price"]),
        "special_price": write_amount(row["special_price"]),
    }
    return _form(AdminFields(context, values), row)


@SITE.post("/products/{product_id}", signed_in=True)
def save_product(context: RequestContext, product_id: str) -> Response:
    """Change a product."""
    row = _find_product(context, product_id)
    product, fields = _read(context, row["id"])
    if fields.errors:
        return _form(fields, row)
    context.update("products", row["id"], **product)
    context.flash(f"{product['name']} was saved.")
    return context.redirect(f"/products/{row['id']}")


def _find_product(context: RequestContext, product_id: str) -> sqlite3.Row:
    sql = "SELECT * FROM products WHERE id = ?"
    return context.find("There is no such product.", sql, read_id(product_id))


def _read(context: RequestContext, own_id: int) -> tuple[dict[str, Any], AdminFields]:
    fields = AdminFields(context)
    categories = [str(row["id"]) for row in context.rows("SELECT id FROM categories")]
    product: dict[str, Any] = {
        "name": fields.text("name", "Product name", most=120),
        "sku": fields.matching(
            "sku", "SKU", _SKU, "A SKU has 3 to 20 letters, digits and hyphens."
        ),
        "category_id": fields.choice(
            "category_id", categories, "Choose one of the values for the category."
        ),
        "brand": fields.text("brand", "Brand", most=60, least=0),
        "price": fields.amount("price", "Price"),
        "special_price": fields.amount("special_price", "Special price", is_required=False),
        "stock": fields.whole("stock", "Stock", 0, HIGHEST_STOCK),
        "is_enabled": int(fields.is_ticked("is_enabled")),
        "colour": fields.text("colour", "Colour", most=40, least=0),
        "material": fields.text("material", "Material", most=60, least=0),
        "weight_grams": fields.whole("weight_grams", "Weight in grams", 0, 999999),
        "description": fields.text("description", "Description", most=4000, least=0),
    }
    sku, price, special_price = product["sku"], product["price"], product["special_price"]
    if context.value("SELECT 1 FROM products WHERE sku = ? AND id <> ?", sku, own_id):
        fields.errors["sku"] = "Another product has this SKU."
    if price is not None and special_price is not None and special_price >= price:
        fields.errors["special_price"] = "Special price must be lower than the price."
    fields.typed("name", "sku", "brand", "colour", "material", "description")
    return product, fields


def _free_slug(context: RequestContext, name: str) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "product"
    slug, number = base, 1
    while context.value("SELECT 1 FROM products WHERE slug = ?", slug):
        number += 1
        slug = f"{base}-{number}"
    return slug


def _form(fields: AdminFields, product: sqlite3.Row | None) -> Response:
    categories = fields.context.rows(
        "SELECT c.id, c.name, above.name AS above FROM categories c "
        "LEFT JOIN categories above ON above.id = c.parent_id "
        "WHERE NOT EXISTS (SELECT 1 FROM categories below WHERE below.parent_id = c.id) "
        "ORDER BY above.name, c.name"
    )
    choices = [
        (row["id"], f"{row['above']} / {row['name']}" if row["above"] else row["name"])
        for row in categories
    ]
    return fields.page(
        "product.html", product=product, categories=[("", "Choose a category"), *choices]
    )
