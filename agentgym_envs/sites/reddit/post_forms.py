"""Writing, editing, locking and deleting posts."""

from __future__ import annotations

import sqlite3
from urllib.parse import urlsplit

from starlette.responses import Response

from agentgym_envs.sites.forms import as_options
from agentgym_envs.sites.reddit.heat import heat
from agentgym_envs.sites.reddit.lookup import ForumFields, find_forum, find_post, own
from agentgym_envs.sites.reddit.site import FLAIRS, SITE
from agentgym_envs.sites.web import Forbidden, RequestContext


@SITE.get("/submit", signed_in=True)
def submit(context: RequestContext) -> Response:
    """Show the empty form, with a choice of communities."""
    return _form(ForumFields(context), "/submit")


@SITE.get("/c/{name}/submit", signed_in=True)
def submit_here(context: RequestContext, name: str) -> Response:
    """Show the empty form for one community."""
    forum = find_forum(context, name)
    return _form(ForumFields(context), f"/c/{forum['name']}/submit", forum)


@SITE.post("/submit", signed_in=True)
def publish(context: RequestContext) -> Response:
    """Publish a post in the community that was chosen."""
    forum = context.row("SELECT * FROM forums WHERE name = ?", context.field("community"))
    return _publish(context, "/submit", forum, None)


@SITE.post("/c/{name}/submit", signed_in=True)
def publish_here(context: RequestContext, name: str) -> Response:
    """Publish a post in one community."""
    forum = find_forum(context, name)
    return _publish(context, f"/c/{forum['name']}/submit", forum, forum)


def _publish(
    context: RequestContext, action: str, chosen: sqlite3.Row | None, fixed: sqlite3.Row | None
) -> Response:
    fields = _read(context)
    fields.typed("community")
    if chosen is None:
        fields.errors["community"] = "Choose a community."
    if chosen is None or fields.errors:
        return _form(fields, action, fixed)
    number = context.insert(
        "posts",
        **_row(fields),
        forum_id=chosen["id"],
        user_id=context.user_id,
        score=1,
        heat=heat(1, context.now),
        created_at=context.now,
    )
    context.flash(f"Your post is published in {chosen['title']}.")
    return context.redirect(f"/p/{number}")


@SITE.get("/p/{number}/edit", signed_in=True)
def edit(context: RequestContext, number: str) -> Response:
    """Show the form with the user's own post."""
    post = own(context, find_post(context, number))
    values = {key: post[key] or "" for key in ("title", "url", "body", "flair")}
    return _form(ForumFields(context, values), f"/p/{post['id']}/edit", post=post)


@SITE.post("/p/{number}/edit", signed_in=True)
def change(context: RequestContext, number: str) -> Response:
    """Change the user's own post."""
    post = own(context, find_post(context, number))
    fields = _read(context)
    if fields.errors:
        return _form(fields, f"/p/{post['id']}/edit", post=post)
    context.update("posts", post["id"], **_row(fields), is_edited=1)
    context.flash("Your post has been changed.")
    return context.redirect(f"/p/{post['id']}")


@SITE.get("/p/{number}/delete", signed_in=True)
def ask_delete(context: RequestContext, number: str) -> Response:
    """Ask whether the post shall really go."""
    post = own(context, find_post(context, number))
    return context.render(
        "delete.html",
        what="post",
        text=post["title"],
        path=f"/p/{post['id']}",
        num_lost=post["num_comments"],
    )


@SITE.post("/p/{number}/delete", signed_in=True)
def delete(context: RequestContext, number: str) -> Response:
    """Delete the user's own post and all comments below it."""
    post = own(context, find_post(context, number))
    context.run("DELETE FROM posts WHERE id = ?", post["id"])
    context.flash("Your post has been deleted.")
    return context.redirect(f"/c/{post['forum']}")


@SITE.post("/p/{number}/lock", signed_in=True)
def lock(context: RequestContext, number: str) -> Response:
    """Lock or unlock a post's comments, for moderators.

    Raises:
        Forbidden: the visitor does not moderate the community.
    """
    post = find_post(context, number)
    if not find_forum(context, post["forum"])["is_moderated"]:
        raise Forbidden("Only moderators can lock a post.")
    locked = int(context.field("value") == "1")
    context.update("posts", post["id"], is_locked=locked)
    context.flash("The post is locked." if locked else "The post is open again.")
    return context.redirect(f"/p/{post['id']}")


def _read(context: RequestContext) -> ForumFields:
    fields = ForumFields(context)
    fields.line("title", "Give the post a title.")
    url = fields.line("url", least=0, most=500)
    if not _is_address(url):
        fields.errors["url"] = "Write a whole address: http://example.test/page"
    needed = "Write a text, or give a link above."
    fields.text("body", needed, most=10_000, least=0 if url else 1)
    fields.choice("flair", ("", *FLAIRS), "Choose one of the kinds.")
    return fields


def _row(fields: ForumFields) -> dict[str, str | None]:
    values = fields.values
    return {name: values[name] for name in ("title", "body")} | {
        name: values[name] or None for name in ("url", "flair")
    }


def _is_address(text: str) -> bool:
    if not text:
        return True
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    is_short = len(text) <= 500 and " " not in text
    return parts.scheme in ("http", "https") and bool(parts.netloc) and is_short


def _form(
    fields: ForumFields,
    action: str,
    forum: sqlite3.Row | None = None,
    post: sqlite3.Row | None = None,
) -> Response:
    rows: list[sqlite3.Row] = []
    if forum is None and post is None:
        rows = fields.context.rows("SELECT name, title FROM forums ORDER BY title, id")
    return fields.page(
        "post_form.html",
        action=action,
        forum=forum,
        post=post,
        forums=[("", "Choose a community"), *((row["name"], row["title"]) for row in rows)],
        flairs=as_options(FLAIRS, "No flair"),
    )
