"""The forms for one product, old or new."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.shopping_admin.entries import Entries, read_id, write_amount
from agentgym_envs.sites.shopping_admin.products import HIGHEST_STOCK
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

_SKU = re.compile(r"[A-Za-z0-9-]{3,20}")
_TYPED = (
    "name", "sku", "category_id", "brand", "price", "special_price", "stock", "colour", "material",
    "weight_grams", "description",
)  # fmt: skip


@SITE.get("/products/new", signed_in=True)
def new_product(context: RequestContext) -> Response:
    """Show an empty form."""
    values = dict.fromkeys(_TYPED, "") | {"is_enabled": True, "stock": "0", "weight_grams": "0"}
    return _form(context, None, values, {})


@SITE.post("/products/new", signed_in=True)
def add_product(context: RequestContext) -> Response:
    """Add a product."""
    entries = Entries(context)
    product = _read(context, entries)
    if context.value("SELECT 1 FROM products WHERE sku = ?", product["sku"]):
        entries.errors["sku"] = "Another product has this SKU."
    if entries.errors:
        return _form(context, None, _typed(context), entries.errors)
    product |= {"slug": _free_slug(context, product["name"]), "created_at": context.now}
    columns, marks = ", ".join(product), ", ".join("?" * len(product))
    context.run(f"INSERT INTO products ({columns}) VALUES ({marks})", *product.values())
    context.flash(f"{product['name']} was added.")
    return context.redirect(f"/products?sku={product['sku']}")


@SITE.get("/products/{product_id}", signed_in=True)
def edit_product(context: RequestContext, product_id: str) -> Response:
    """Show the form of a product."""
    row = _product_of(context, product_id)
    values = dict(row) | {
        "price": write_amount(row["price"]),
        "special_price": write_amount(row["special_price"]),
    }
    return _form(context, row, values, {})


@SITE.post("/products/{product_id}", signed_in=True)
def save_product(context: RequestContext, product_id: str) -> Response:
    """Change a product."""
    row = _product_of(context, product_id)
    entries = Entries(context)
    product = _read(context, entries)
    if context.value("SELECT 1 FROM products WHERE sku = ? AND id <> ?", product["sku"], row["id"]):
        entries.errors["sku"] = "Another product has this SKU."
    if entries.errors:
        return _form(context, row, _typed(context), entries.errors)
    changes = ", ".join(f"{name} = ?" for name in product)
    context.run(f"UPDATE products SET {changes} WHERE id = ?", *product.values(), row["id"])
    context.flash(f"{product['name']} was saved.")
    return context.redirect(f"/products/{row['id']}")


def _product_of(context: RequestContext, product_id: str) -> sqlite3.Row:
    row = context.row("SELECT * FROM products WHERE id = ?", read_id(product_id))
    if row is None:
        raise NotFound("There is no such product.")
    return row


def _read(context: RequestContext, entries: Entries) -> dict[str, Any]:
    categories = [str(row["id"]) for row in context.rows("SELECT id FROM categories")]
    product = {
        "name": entries.text("name", "Product name", longest=120),
        "sku": entries.text("sku", "SKU", longest=20),
        "category_id": entries.one_of("category_id", "the category", categories),
        "brand": entries.text("brand", "Brand", longest=60, is_required=False),
        "price": entries.amount("price", "Price"),
        "special_price": entries.amount("special_price", "Special price", is_required=False),
        "stock": entries.whole("stock", "Stock", 0, HIGHEST_STOCK),
        "is_enabled": int(entries.is_ticked("is_enabled")),
        "colour": entries.text("colour", "Colour", longest=40, is_required=False),
        "material": entries.text("material", "Material", longest=60, is_required=False),
        "weight_grams": entries.whole("weight_grams", "Weight in grams", 0, 999999),
        "description": entries.text("description", "Description", longest=4000, is_required=False),
    }
    if product["sku"] and not _SKU.fullmatch(str(product["sku"])):
        entries.errors["sku"] = "A SKU has 3 to 20 letters, digits and hyphens."
    price, special_price = product["price"], product["special_price"]
    if isinstance(price, int) and isinstance(special_price, int) and special_price >= price:
        entries.errors["special_price"] = "Special price must be lower than the price."
    return product


def _typed(context: RequestContext) -> dict[str, Any]:
    values: dict[str, Any] = {name: context.field(name) for name in _TYPED}
    return values | {"is_enabled": bool(context.field("is_enabled"))}


def _free_slug(context: RequestContext, name: str) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "product"
    slug, number = base, 1
    while context.value("SELECT 1 FROM products WHERE slug = ?", slug):
        number += 1
        slug = f"{base}-{number}"
    return slug


def _form(
    context: RequestContext,
    product: sqlite3.Row | None,
    values: Mapping[str, Any],
    errors: Mapping[str, str],
) -> Response:
    categories = context.rows(
        "SELECT c.id, c.name, above.name AS above FROM categories c "
        "LEFT JOIN categories above ON above.id = c.parent_id "
        "WHERE NOT EXISTS (SELECT 1 FROM categories below WHERE below.parent_id = c.id) "
        "ORDER BY above.name, c.name"
    )
    choices = [
        (row["id"], f"{row['above']} / {row['name']}" if row["above"] else row["name"])
        for row in categories
    ]
    return context.render(
        "product.html",
        product=product,
        values=values,
        errors=errors,
        categories=[("", "Choose a category"), *choices],
    )
