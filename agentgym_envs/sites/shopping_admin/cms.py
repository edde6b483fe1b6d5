"""The shop's content pages, such as its terms of delivery: the list, and the form of one."""

from __future__ import annotations

import re
import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.shopping_admin.entries import Entries, read_id
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

_KEY = re.compile(r"[a-z0-9-]{2,60}")


@SITE.get("/pages", signed_in=True)
def content_pages(context: RequestContext) -> Response:
    """List the pages."""
    rows = context.rows(
        "SELECT id, title, url_key, is_enabled FROM pages ORDER BY title, id LIMIT 40"
    )
    return context.render("content_pages.html", rows=rows)


@SITE.get("/pages/{page_id}", signed_in=True)
def edit_page(context: RequestContext, page_id: str) -> Response:
    """Show the form of a page."""
    row = _page_of(context, page_id)
    return context.render("content_page.html", page=row, values=row, errors={})


@SITE.post("/pages/{page_id}", signed_in=True)
def save_page(context: RequestContext, page_id: str) -> Response:
    """Change a page."""
    row = _page_of(context, page_id)
    entries = Entries(context)
    values = {
        "title": entries.text("title", "Title", longest=100),
        "url_key": entries.text("url_key", "URL key", longest=60),
        "content": entries.text("content", "Content", longest=20000),
        "is_enabled": int(entries.is_ticked("is_enabled")),
    }
    key = str(values["url_key"])
    if key and not _KEY.fullmatch(key):
        entries.errors["url_key"] = "A URL key has small letters, digits and hyphens."
    elif context.value("SELECT 1 FROM pages WHERE url_key = ? AND id <> ?", key, row["id"]):
        entries.errors["url_key"] = "Another page has this URL key."
    if entries.errors:
        return context.render("content_page.html", page=row, values=values, errors=entries.errors)
    changes = ", ".join(f"{name} = ?" for name in values)
    context.run(f"UPDATE pages SET {changes} WHERE id = ?", *values.values(), row["id"])
    context.flash(f"The page {values['title']} was saved.")
    return context.redirect("/pages")


def _page_of(context: RequestContext, page_id: str) -> sqlite3.Row:
    row = context.row("SELECT * FROM pages WHERE id = ?", read_id(page_id))
    if row is None:
        raise NotFound("There is no such page.")
    return row
