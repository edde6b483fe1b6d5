"""Declares the shop's `Site` and the frame around every page."""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentgym_envs.sites.web import RequestContext, Site

SITE = Site("shopping", "Larder & Loom", Path(__file__).parent, user_table="customers")

_PICTURES = tomllib.loads((SITE.folder / "pictures.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Frame:
    """The header's content.

    Attributes:
        categories: of the first level.
        parts: the categories within each of these, by its id.
        cart_count: things in the visitor's cart.
    """

    categories: list[sqlite3.Row]
    parts: Mapping[int, list[sqlite3.Row]]
    cart_count: int


def page_frame(context: RequestContext) -> Frame:
    """Collect the header's content."""
    count = 0
    if context.user is not None:
        count = context.value(
            "SELECT coalesce(sum(quantity), 0) FROM cart_items WHERE customer_id = ?",
            context.user["id"],
        )
    rows = context.rows("SELECT id, parent_id, name, slug FROM categories ORDER BY position, id")
    parts: dict[int, list[sqlite3.Row]] = {}
    for row in rows:
        parts.setdefault(row["parent_id"], []).append(row)
    return Frame([row for row in rows if row["parent_id"] is None], parts, count)


def pages_of_shop(context: RequestContext) -> list[sqlite3.Row]:
    """List the information pages, for the footer."""
    return context.rows("SELECT title, url_key FROM pages WHERE is_enabled ORDER BY id")


def picture(product_id: int, category: str, colour: str) -> tuple[str, str]:
    """Return the colour and the SVG path of the drawing that stands in for a photograph."""
    unknown = _PICTURES["unknown_colours"]
    fill = _PICTURES["colours"].get(colour) or unknown[product_id % len(unknown)]
    return fill, _PICTURES["shapes"].get(category, _PICTURES["unknown_shape"])


# Globals, not the handlers' business: the page that reports an error needs the frame too.
SITE.environment.globals.update(page_frame=page_frame, pages_of_shop=pages_of_shop, picture=picture)
