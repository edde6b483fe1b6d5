"""Writing, editing and deleting comments."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.webarena.sites.reddit.lookup import (
    Forbidden,
    comment_of,
    me,
    own,
    post_of,
    too_long,
    typed,
)
from agentgym_envs.webarena.sites.reddit.posts import Thread, show_post, threads_of
from agentgym_envs.webarena.sites.reddit.site import SITE
from agentgym_envs.webarena.sites.web import NotFound, Visit


@SITE.post("/p/{number}/comments", signed_in=True)
def comment_on_post(visit: Visit, number: str) -> Response:
    """Comment on a post."""
    post = post_of(visit, number)
    if post["is_locked"]:
        raise Forbidden("This post is locked; nobody can comment on it any more.")
    body = typed(visit, "body")
    wrong = _fault(body)
    if wrong:
        return show_post(visit, number, {"body": wrong}, body)
    _write(visit, post["id"], None, post["user_id"], body)
    visit.flash("Your comment is published.")
    return visit.redirect(f"/p/{post['id']}")


@SITE.get("/comments/{number}")
def comment(visit: Visit, number: str) -> Response:
    """Show one comment with the replies to it, and a form to reply."""
    return _show(visit, comment_of(visit, number), "", "")


@SITE.post("/comments/{number}", signed_in=True)
def reply(visit: Visit, number: str) -> Response:
    """Reply to a comment."""
    answered = comment_of(visit, number)
    if answered["is_locked"] or answered["is_deleted"]:
        raise Forbidden("Nobody can reply to this comment any more.")
    body = typed(visit, "body")
    wrong = _fault(body)
    if wrong:
        return _show(visit, answered, wrong, body)
    _write(visit, answered["post_id"], answered["id"], answered["user_id"], body)
    visit.flash("Your reply is published.")
    return visit.redirect(f"/comments/{answered['id']}")


@SITE.get("/comments/{number}/edit", signed_in=True)
def edit_comment(visit: Visit, number: str) -> Response:
    """Show the form with the user's own comment."""
    row = _own_comment(visit, number)
    return visit.render("comment_form.html", comment=row, body=row["body"], wrong="")


@SITE.post("/comments/{number}/edit", signed_in=True)
def change_comment(visit: Visit, number: str) -> Response:
    """Change the user's own comment."""
    row = _own_comment(visit, number)
    body = typed(visit, "body")
    wrong = _fault(body)
    if wrong:
        return visit.render("comment_form.html", status=422, comment=row, body=body, wrong=wrong)
    visit.run("UPDATE comments SET body = ?, is_edited = 1 WHERE id = ?", body, row["id"])
    visit.flash("Your comment has been changed.")
    return visit.redirect(f"/comments/{row['id']}")


@SITE.get("/comments/{number}/delete", signed_in=True)
def ask_delete_comment(visit: Visit, number: str) -> Response:
    """Ask whether the comment shall really go."""
    row = _own_comment(visit, number)
    return visit.render(
        "delete.html", what="comment", text=row["body"], path=f"/comments/{row['id']}", num_lost=0
    )


@SITE.post("/comments/{number}/delete", signed_in=True)
def delete_comment(visit: Visit, number: str) -> Response:
    """Delete the user's own comment; what was replied to it stays below an empty one."""
    row = _own_comment(visit, number)
    if visit.row("SELECT 1 FROM comments WHERE parent_id = ?", row["id"]):
        visit.run("UPDATE comments SET body = '', is_deleted = 1 WHERE id = ?", row["id"])
    else:
        visit.run("DELETE FROM comments WHERE id = ?", row["id"])
    visit.run("UPDATE posts SET num_comments = num_comments - 1 WHERE id = ?", row["post_id"])
    visit.flash("Your comment has been deleted.")
    return visit.redirect(f"/p/{row['post_id']}")


def _own_comment(visit: Visit, number: str) -> sqlite3.Row:
    row = comment_of(visit, number)
    own(visit, row)
    if row["is_deleted"]:
        raise NotFound("This comment has been deleted.")
    return row


def _fault(body: str) -> str:
    return too_long(body, 10_000) if body else "Write something first."


def _write(visit: Visit, post: int, parent: int | None, answered: int, body: str) -> None:
    number = visit.run(
        "INSERT INTO comments (post_id, parent_id, user_id, body, created_at) "
        "VALUES (?, ?, ?, ?, ?)",
        post,
        parent,
        me(visit),
        body,
        visit.now,
    )
    visit.run("UPDATE posts SET num_comments = num_comments + 1 WHERE id = ?", post)
    if answered != me(visit):
        visit.run("INSERT INTO notifications (user_id, comment_id) VALUES (?, ?)", answered, number)


def _show(visit: Visit, row: sqlite3.Row, wrong: str, body: str) -> Response:
    thread = _within(threads_of(visit, row["post_id"], "best"), row["id"])
    return visit.render(
        "comment.html",
        status=422 if wrong else 200,
        thread=thread,
        comment=row,
        wrong=wrong,
        body=body,
    )


def _within(threads: list[Thread], number: int) -> Thread:
    waiting = list(threads)
    while waiting:
        thread = waiting.pop()
        if thread.comment["id"] == number:
            return thread
        waiting += thread.replies
    raise NotFound("There is no such comment; it may have been removed.")
