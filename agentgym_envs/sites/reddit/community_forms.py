"""Creating a community, and changing what it says about itself."""

from __future__ import annotations

import re
import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.reddit.lookup import (
    Forbidden,
    faults,
    forum_of,
    line_of,
    me,
    too_long,
    typed,
)
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import RequestContext

_RESERVED = ("new", "all", "subscribed")


@SITE.get("/communities/new", signed_in=True)
def new_community(context: RequestContext) -> Response:
    """Show the empty form."""
    return _form(context, None, {}, {})


@SITE.post("/communities/new", signed_in=True)
def create_community(context: RequestContext) -> Response:
    """Create a community; its creator moderates and follows it."""
    values, wrong = _read(context)
    values["name"] = line_of(context, "name")
    name = values["name"]
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or not 3 <= len(name) <= 30:
        wrong["name"] = "Use 3 to 30 small letters, digits and single hyphens: board-games."
    elif name in _RESERVED or context.row("SELECT 1 FROM forums WHERE name = ?", name):
        wrong["name"] = "This name is taken."
    if wrong:
        return _form(context, None, values, wrong)
    number = context.run(
        "INSERT INTO forums (name, title, description, sidebar, created_by, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        *(values[key] for key in ("name", "title", "description", "sidebar")),
        me(context),
        context.now,
    )
    context.run("INSERT INTO moderators VALUES (?, ?)", number, me(context))
    context.run("INSERT INTO subscriptions VALUES (?, ?)", number, me(context))
    context.flash(f"{values['title']} is open. Write the first post!")
    return context.redirect(f"/c/{name}")


@SITE.get("/c/{name}/edit", signed_in=True)
def edit_community(context: RequestContext, name: str) -> Response:
    """Show a community's form to its moderators."""
    forum = _moderated(context, name)
    return _form(context, forum, dict(forum), {})


@SITE.post("/c/{name}/edit", signed_in=True)
def change_community(context: RequestContext, name: str) -> Response:
    """Change title, description and sidebar."""
    forum = _moderated(context, name)
    values, wrong = _read(context)
    if wrong:
        return _form(context, forum, values, wrong)
    context.run(
        "UPDATE forums SET title = ?, description = ?, sidebar = ? WHERE id = ?",
        values["title"],
        values["description"],
        values["sidebar"],
        forum["id"],
    )
    context.flash("The community has been changed.")
    return context.redirect(f"/c/{forum['name']}")


def _moderated(context: RequestContext, name: str) -> sqlite3.Row:
    forum = forum_of(context, name)
    if not forum["is_moderated"]:
        raise Forbidden("Only moderators can change a community.")
    return forum


def _read(context: RequestContext) -> tuple[dict[str, str], dict[str, str]]:
    values = {
        "title": line_of(context, "title"),
        "description": line_of(context, "description"),
        "sidebar": typed(context, "sidebar"),
    }
    wrong = faults(
        title="Give the community a title."
        if not values["title"]
        else too_long(values["title"], 60),
        description="Say in one sentence what it is about."
        if not values["description"]
        else too_long(values["description"], 200),
        sidebar=too_long(values["sidebar"], 4000),
    )
    return values, wrong


def _form(
    context: RequestContext,
    forum: sqlite3.Row | None,
    values: dict[str, str],
    wrong: dict[str, str],
) -> Response:
    return context.render(
        "community_form.html",
        status=422 if wrong else 200,
        forum=forum,
        values=values,
        wrong=wrong,
    )
