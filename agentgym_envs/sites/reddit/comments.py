"""Writing, editing and deleting comments."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.reddit.lookup import ForumFields, find_comment, find_post, own
from agentgym_envs.sites.reddit.posts import Thread, comment_threads, show_post
from agentgym_envs.sites.reddit.site import SITE
from agentgym_envs.sites.web import Forbidden, NotFound, RequestContext


@SITE.post("/p/{number}/comments", signed_in=True)
def comment_on_post(context: RequestContext, number: str) -> Response:
    """Comment on a post.

    Raises:
        Forbidden: the post is locked.
    """
    post = find_post(context, number)
    if post["is_locked"]:
        raise Forbidden("This post is locked; nobody can comment on it any more.")
    fields = _read(context)
    if fields.errors:
        return show_post(fields, number)
    _write(fields, post["id"], None, post["user_id"])
    context.flash("Your comment is published.")
    return context.redirect(f"/p/{post['id']}")


@SITE.get("/comments/{number}")
def comment(context: RequestContext, number: str) -> Response:
    """Show one comment with the replies to it, and a form to reply."""
    return _show(ForumFields(context), find_comment(context, number))


@SITE.post("/comments/{number}", signed_in=True)
def reply(context: RequestContext, number: str) -> Response:
    """Reply to a comment.

    Raises:
        Forbidden: the post is locked, or the comment is deleted.
    """
    answered = find_comment(context, number)
    if answered["is_locked"] or answered["is_deleted"]:
        raise Forbidden("Nobody can reply to this comment any more.")
    fields = _read(context)
    if fields.errors:
        return _show(fields, answered)
    _write(fields, answered["post_id"], answered["id"], answered["user_id"])
    context.flash("Your reply is published.")
    return context.redirect(f"/comments/{answered['id']}")


@SITE.get("/comments/{number}/edit", signed_in=True)
def edit_comment(context: RequestContext, number: str) -> Response:
    """Show the form with the user's own comment."""
    row = _own_comment(context, number)
    return ForumFields(context, row).page("comment_form.html", comment=row)


@SITE.post("/comments/{number}/edit", signed_in=True)
def change_comment(context: RequestContext, number: str) -> Response:
    """Change the user's own comment."""
    row = _own_comment(context, number)
    fields = _read(context)
    if fields.errors:
        return fields.page("comment_form.html", comment=row)
    context.update("comments", row["id"], **fields.values, is_edited=1)
    context.flash("Your comment has been changed.")
    return context.redirect(f"/comments/{row['id']}")


@SITE.get("/comments/{number}/delete", signed_in=True)
def ask_delete_comment(context: RequestContext, number: str) -> Response:
    """Ask whether the comment shall really go."""
    row = _own_comment(context, number)
    return context.render(
        "delete.html", what="comment", text=row["body"], path=f"/comments/{row['id']}", num_lost=0
    )


@SITE.post("/comments/{number}/delete", signed_in=True)
def delete_comment(context: RequestContext, number: str) -> Response:
    """Delete the user's own comment. Its replies stay below an empty one."""
    row = _own_comment(context, number)
    if context.row("SELECT 1 FROM comments WHERE parent_id = ?", row["id"]):
        context.update("comments", row["id"], body="", is_deleted=1)
    else:
        context.run("DELETE FROM comments WHERE id = ?", row["id"])
    context.run("UPDATE posts SET num_comments = num_comments - 1 WHERE id = ?", row["post_id"])
    context.flash("Your comment has been deleted.")
    return context.redirect(f"/p/{row['post_id']}")


def _own_comment(context: RequestContext, number: str) -> sqlite3.Row:
    row = own(context, find_comment(context, number))
    if row["is_deleted"]:
        raise NotFound("This comment has been deleted.")
    return row


def _read(context: RequestContext) -> ForumFields:
    fields = ForumFields(context)
    fields.text("body", "Write something first.", most=10_000)
    return fields


def _write(fields: ForumFields, post: int, parent: int | None, answered: int) -> None:
    context = fields.context
    number = context.insert(
        "comments",
        post_id=post,
        parent_id=parent,
        user_id=context.user_id,
        body=fields.values["body"],
        created_at=context.now,
    )
    context.run("UPDATE posts SET num_comments = num_comments + 1 WHERE id = ?", post)
    if answered != context.user_id:
        context.insert("notifications", user_id=answered, comment_id=number)


def _show(fields: ForumFields, row: sqlite3.Row) -> Response:
    thread = _within(comment_threads(fields.context, row["post_id"], "best"), row["id"])
    return fields.page("comment.html", thread=thread, comment=row)


def _within(threads: list[Thread], number: int) -> Thread:
    waiting = list(threads)
    while waiting:
        thread = waiting.pop()
        if thread.comment["id"] == number:
            return thread
        waiting += thread.replies
    raise NotFound("There is no such comment; it may have been removed.")
