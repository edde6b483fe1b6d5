"""To-dos: requests from other users."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.web import RequestContext, read_id

STATES = (("pending", "To do"), ("done", "Done"))
ACTIONS = ("assigned", "review requested", "mentioned")

_SOURCE = (
    "todos t JOIN users a ON a.id = t.author_id JOIN projects p ON p.id = t.project_id "
    "JOIN users o ON o.id = p.owner_id LEFT JOIN issues i ON i.id = t.issue_id "
    "LEFT JOIN merge_requests r ON r.id = t.merge_request_id"
)


@SITE.get("/todos", signed_in=True)
def todo_list(context: RequestContext) -> Response:
    """Show the to-dos, filtered by state, kind and project."""
    state = "done" if context.field("state") == "done" else "pending"
    listing = Listing(context, _SOURCE, size=12)
    listing.where("t.user_id = ? AND t.state = ?", context.user_id, state)
    listing.number("project", "t.project_id").equals("action", "t.action", ACTIONS)
    rows, pages = listing.rows(
        "t.*, a.name AS author, p.name AS project, coalesce(i.title, r.title) AS title, "
        "'/~' || o.username || '/' || p.slug || CASE WHEN i.id IS NULL THEN '/merges/' || r.iid "
        "ELSE '/issues/' || i.iid END AS path",
        order="t.created_at DESC, t.id",
    )
    return context.render(
        "todos.html",
        rows=rows,
        pages=pages,
        state=state,
        states=STATES,
        actions=[("", "Any reason"), *((name, name.capitalize()) for name in ACTIONS)],
        projects=_projects(context),
    )


@SITE.post("/todos/{number}/state", signed_in=True)
def set_state(context: RequestContext, number: str) -> Response:
    """Mark a to-do as done, or as still to do."""
    state = "pending" if context.field("state") == "pending" else "done"
    missing = "There is no such to-do."
    sql = "SELECT id FROM todos WHERE id = ? AND user_id = ?"
    todo = context.find(missing, sql, read_id(number, missing), context.user_id)
    context.update("todos", todo["id"], state=state)
    context.flash("Marked as done." if state == "done" else "Back on the list.")
    return context.redirect("/todos")


def add_todo(context: RequestContext, user: int | None, action: str, **target: Any) -> None:
    """Create another user's to-do. None for the visitor's own actions.

    Args:
        context: the request.
        user: who is asked.
        action: one of `ACTIONS`.
        target: `project_id`, and `issue_id` or `merge_request_id`.
    """
    if user is not None and user != context.user_id:
        context.insert(
            "todos", user_id=user, author_id=context.user_id, action=action,
            created_at=context.now, **target,
        )  # fmt: skip


def _projects(context: RequestContext) -> list[tuple[str, str]]:
    rows = context.rows(
        "SELECT DISTINCT p.id, p.name FROM todos t JOIN projects p ON p.id = t.project_id "
        "WHERE t.user_id = ? ORDER BY p.name",
        context.user_id,
    )
    return [("", "Any project"), *((str(row["id"]), row["name"]) for row in rows)]
