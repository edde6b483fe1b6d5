"""The shop's content pages, such as its terms of delivery: the list, and the form of one."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.shopping_admin.site import SITE, AdminFields
from agentgym_envs.sites.web import RequestContext, read_id

_KEY = r"[a-z0-9-]{2,60}"


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
    row = _find_page(context, page_id)
    return AdminFields(context, row).page("content_page.html", page=row)


@SITE.post("/pages/{page_id}", signed_in=True)
def save_page(context: RequestContext, page_id: str) -> Response:
    """Change a page."""
    row = _find_page(context, page_id)
    fields = AdminFields(context)
    values = {
        "title": fields.text("title", "Title", most=100),
        "url_key": fields.matching(
            "url_key", "URL key", _KEY, "A URL key has small letters, digits and hyphens."
        ),
        "content": fields.text("content", "Content", most=20000),
        "is_enabled": int(fields.is_ticked("is_enabled")),
    }
    key = fields.values["url_key"]
    if context.value("SELECT 1 FROM pages WHERE url_key = ? AND id <> ?", key, row["id"]):
        fields.errors["url_key"] = "Another page has this URL key."
    if fields.errors:
        return fields.page("content_page.html", page=row)
    context.update("pages", row["id"], **values)
    context.flash(f"The page {values['title']} was saved.")
    return context.redirect("/pages")


def _find_page(context: RequestContext, page_id: str) -> sqlite3.Row:
    sql = "SELECT * FROM pages WHERE id = ?"
    return context.find("There is no such page.", sql, read_id(page_id))
