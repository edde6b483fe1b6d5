"""Writing, editing, locking and deleting posts."""

from __future__ import annotations

import sqlite3
from urllib.parse import urlsplit

from starlette.responses import Response

from agentgym_envs.sites.reddit.heat import heat
from agentgym_envs.sites.reddit.lookup import (
    Forbidden,
    faults,
    forum_of,
    line_of,
    me,
    own,
    post_of,
    too_long,
    typed,
)
from agentgym_envs.sites.reddit.site import FLAIRS, SITE
from agentgym_envs.sites.web import RequestContext


@SITE.get("/submit", signed_in=True)
def submit(context: RequestContext) -> Response:
    """Show the empty form, with a choice of communities."""
    return _form(context, "/submit", None, {}, {})


@SITE.get("/c/{name}/submit", signed_in=True)
def submit_here(context: RequestContext, name: str) -> Response:
    """Show the empty form for one community."""
    forum = forum_of(context, name)
    return _form(context, f"/c/{forum['name']}/submit", forum, {}, {})


@SITE.post("/submit", signed_in=True)
def publish(context: RequestContext) -> Response:
    """Publish a post in the community that was chosen."""
    forum = context.row("SELECT * FROM forums WHERE name = ?", context.field("community"))
    return _publish(context, "/submit", forum, None)


@SITE.post("/c/{name}/submit", signed_in=True)
def publish_here(context: RequestContext, name: str) -> Response:
    """Publish a post in one community."""
    forum = forum_of(context, name)
    return _publish(context, f"/c/{forum['name']}/submit", forum, forum)


def _publish(
    context: RequestContext, action: str, chosen: sqlite3.Row | None, fixed: sqlite3.Row | None
) -> Response:
    values, wrong = _read(context)
    values["community"] = context.field("community")
    if chosen is None:
        wrong["community"] = "Choose a community."
    if chosen is None or wrong:
        return _form(context, action, fixed, values, wrong)
    number = context.run(
        "INSERT INTO posts (forum_id, user_id, title, url, body, flair, score, heat, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?)",
        chosen["id"],
        me(context),
        values["title"],
        values["url"] or None,
        values["body"],
        values["flair"] or None,
        heat(1, context.now),
        context.now,
    )
    context.flash(f"Your post is published in {chosen['title']}.")
    return context.redirect(f"/p/{number}")


@SITE.get("/p/{number}/edit", signed_in=True)
def edit(context: RequestContext, number: str) -> Response:
    """Show the form with the user's own post."""
    post = post_of(context, number)
    own(context, post)
    values = {key: post[key] or "" for key in ("title", "url", "body", "flair")}
    return _form(context, f"/p/{post['id']}/edit", None, values, {}, post)


@SITE.post("/p/{number}/edit", signed_in=True)
def change(context: RequestContext, number: str) -> Response:
    """Change the user's own post."""
    post = post_of(context, number)
    own(context, post)
    values, wrong = _read(context)
    if wrong:
        return _form(context, f"/p/{post['id']}/edit", None, values, wrong, post)
    context.run(
        "UPDATE posts SET title = ?, url = ?, body = ?, flair = ?, is_edited = 1 WHERE id = ?",
        values["title"],
        values["url"] or None,
        values["body"],
        values["flair"] or None,
        post["id"],
    )
    context.flash("Your post has been changed.")
    return context.redirect(f"/p/{post['id']}")


@SITE.get("/p/{number}/delete", signed_in=True)
def ask_delete(context: RequestContext, number: str) -> Response:
    """Ask whether the post shall really go."""
    post = post_of(context, number)
    own(context, post)
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
    post = post_of(context, number)
    own(context, post)
    context.run("DELETE FROM posts WHERE id = ?", post["id"])
    context.flash("Your post has been deleted.")
    return context.redirect(f"/c/{post['forum']}")


@SITE.post("/p/{number}/lock", signed_in=True)
def lock(context: RequestContext, number: str) -> Response:
    """Let nobody comment any more, or let them again: for moderators."""
    post = post_of(context, number)
    if not forum_of(context, post["forum"])["is_moderated"]:
        raise Forbidden("Only moderators can lock a post.")
    locked = int(context.field("value") == "1")
    context.run("UPDATE posts SET is_locked = ? WHERE id = ?", locked, post["id"])
    context.flash("The post is locked." if locked else "The post is open again.")
    return context.redirect(f"/p/{post['id']}")


def _read(context: RequestContext) -> tuple[dict[str, str], dict[str, str]]:
    values = {
        "title": line_of(context, "title"),
        "url": line_of(context, "url"),
        "body": typed(context, "body"),
        "flair": context.field("flair"),
    }
    wrong = faults(
        title=too_long(values["title"], 200) if values["title"] else "Give the post a title.",
        url="" if _is_address(values["url"]) else "Write a whole address: http://example.test/page",
        body=too_long(values["body"], 10_000)
        if values["body"] or values["url"]
        else "Write a text, or give a link above.",
        flair="" if values["flair"] in ("", *FLAIRS) else "Choose one of the kinds.",
    )
    return values, wrong


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
    context: RequestContext,
    action: str,
    forum: sqlite3.Row | None,
    values: dict[str, str],
    wrong: dict[str, str],
    post: sqlite3.Row | None = None,
) -> Response:
    has_choice = forum is None and post is None
    forums = context.rows("SELECT name, title FROM forums ORDER BY title, id") if has_choice else []
    return context.render(
        "post_form.html",
        status=422 if wrong else 200,
        action=action,
        forum=forum,
        post=post,
        values={"title": "", "url": "", "body": "", "flair": "", "community": ""} | values,
        wrong=wrong,
        forums=[("", "Choose a community"), *((row["name"], row["title"]) for row in forums)],
        flairs=[("", "No flair"), *((flair, flair) for flair in FLAIRS)],
    )
