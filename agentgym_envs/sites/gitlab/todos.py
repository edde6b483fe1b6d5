"""To-dos: what others have asked of you."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import visitor_id
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.web import NotFound, RequestContext

STATES = (("pending", "To do"), ("done", "Done"))
ACTIONS = ("assigned", "review requested", "mentioned")

_FROM = (
    "FROM todos t JOIN users a ON a.id = t.author_id JOIN projects p ON p.id = t.project_id "
    "JOIN users o ON o.id = p.owner_id LEFT JOIN issues i ON i.id = t.issue_id "
    "LEFT JOIN merge_requests r ON r.id = t.merge_request_id WHERE t.user_id = ? "
)


@SITE.get("/todos", signed_in=True)
def todo_list(context: RequestContext) -> Response:
    """Show the to-dos, filtered by state, kind and project."""
    user = visitor_id(context)
    state = "done" if context.field("state") == "done" else "pending"
    action, project = context.field("action"), context.number("project")
    where, values = "AND t.state = ?", [user, state]
    if action in ACTIONS:
        where, values = f"{where} AND t.action = ?", [*values, action]
    if project:
        where, values = f"{where} AND t.project_id = ?", [*values, project]
    pages = Pages.of(context, context.value(f"SELECT count(*) {_FROM}{where}", *values), 12)
    rows = context.rows(
        "SELECT t.*, a.name AS author, p.name AS project, coalesce(i.title, r.title) AS title, "
        "'/~' || o.username || '/' || p.slug || CASE WHEN i.id IS NULL THEN '/merges/' || r.iid "
        f"ELSE '/issues/' || i.iid END AS path {_FROM}{where} "
        "ORDER BY t.created_at DESC, t.id LIMIT ? OFFSET ?",
        *values,
        pages.size,
        pages.offset,
    )
    return context.render(
        "todos.html",
        rows=rows,
        pages=pages,
        state=state,
        states=STATES,
        actions=[("", "Any reason"), *((name, name.capitalize()) for name in ACTIONS)],
        projects=_projects(context, user),
    )


@SITE.post("/todos/{number}/state", signed_in=True)
def set_state(context: RequestContext, number: str) -> Response:
    """Mark a to-do as done, or as still to do."""
    state = "pending" if context.field("state") == "pending" else "done"
    is_number = number.isascii() and number.isdecimal() and len(number) <= 9
    exists = is_number and context.row(
        "SELECT id FROM todos WHERE id = ? AND user_id = ?", int(number), visitor_id(context)
    )
    if not exists:
        raise NotFound("There is no such to-do.")
    context.run("UPDATE todos SET state = ? WHERE id = ?", state, exists["id"])
    context.flash("Marked as done." if state == "done" else "Back on the list.")
    return context.redirect("/todos")


def add_todo(context: RequestContext, user: int | None, action: str, **target: Any) -> None:
    """Ask something of another user; nothing where it is the visitor.

    Args:
        context: the request.
        user: who is asked.
        action: one of `ACTIONS`.
        target: `project_id`, and `issue_id` or `merge_request_id`.
    """
    if user is None or user == visitor_id(context):
        return
    context.run(
        "INSERT INTO todos (user_id, author_id, action, project_id, issue_id, merge_request_id, "
        "created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        user, visitor_id(context), action, target["project_id"], target.get("issue_id"),
        target.get("merge_request_id"), context.now,
    )  # fmt: skip


def _projects(context: RequestContext, user: int) -> list[tuple[str, str]]:
    rows = context.rows(
        "SELECT DISTINCT p.id, p.name FROM todos t JOIN projects p ON p.id = t.project_id "
        "WHERE t.user_id = ? ORDER BY p.name",
        user,
    )
    return [("", "Any project"), *((str(row["id"]), row["name"]) for row in rows)]
