"""Merge requests: the list with its filters, one request, and what it changes."""

from __future__ import annotations

import difflib
import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    Project,
    find_project,
    numbered,
    of_project,
    people_of,
    person_choices,
)
from agentgym_envs.sites.gitlab.reading import like
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import branch_names, files_of
from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 10
NONE = "none"

STATES = (("open", "Open"), ("merged", "Merged"), ("closed", "Closed"), ("all", "All"))
ORDERS = {
    "newest": ("Newest", "r.created_at DESC, r.id DESC"),
    "oldest": ("Oldest", "r.created_at, r.id"),
    "finished": ("Recently finished", "r.finished_at IS NULL, r.finished_at DESC, r.id"),
}

REQUEST = (
    "SELECT r.*, a.name AS author, a.username AS author_username, s.name AS assignee, "
    "s.username AS assignee_username, w.name AS reviewer, w.username AS reviewer_username, "
    "(SELECT count(*) FROM approvals x WHERE x.merge_request_id = r.id) AS num_approvals "
    "FROM merge_requests r JOIN users a ON a.id = r.author_id "
    "LEFT JOIN users s ON s.id = r.assignee_id LEFT JOIN users w ON w.id = r.reviewer_id "
    "WHERE r.project_id = ?"
)


@SITE.get("/~{owner}/{slug}/merges")
def request_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the merge requests that the filters leave."""
    project = find_project(context, owner, slug)
    where, values = _filters(context)
    total = context.value(
        f"SELECT count(*) FROM merge_requests r WHERE r.project_id = ? {where}",
        project.id,
        *values,
    )
    pages = Pages.of(context, total, PAGE_SIZE)
    order = ORDERS.get(context.field("sort"), ORDERS["newest"])[1]
    rows = context.rows(
        f"{REQUEST} {where} ORDER BY {order} LIMIT ? OFFSET ?",
        project.id, *values, pages.size, pages.offset,
    )  # fmt: skip
    members = person_choices(people_of(context, project), "Anybody")
    return of_project(
        context, project, "merges.html", rows=rows, pages=pages, states=STATES, members=members,
        orders=[(key, label) for key, (label, _) in ORDERS.items()],
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/merges/{iid}")
def show(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show a merge request with its discussion."""
    project = find_project(context, owner, slug)
    return request_page(context, project, find_request(context, project, iid))


@SITE.get("/~{owner}/{slug}/merges/{iid}/changes")
def changes(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show which lines an open merge request changes."""
    project = find_project(context, owner, slug)
    request = find_request(context, project, iid)
    branches = branch_names(context, project)
    is_there = request["source_branch"] in branches and request["target_branch"] in branches
    files = _differences(context, project, request) if is_there else []
    return of_project(context, project, "merge_changes.html", request=request, files=files)


def request_page(
    context: RequestContext,
    project: Project,
    request: sqlite3.Row,
    *,
    text: str = "",
    error: str = "",
) -> Response:
    """Render a merge request; `text` and `error` belong to its comment form."""
    notes = context.rows(
        "SELECT n.*, u.name AS author, u.username FROM notes n JOIN users u ON u.id = n.author_id "
        "WHERE n.merge_request_id = ? ORDER BY n.created_at, n.id LIMIT 100",
        request["id"],
    )
    commits = context.rows(
        "SELECT c.sha, c.message, c.created_at, u.name AS author FROM commits c "
        "JOIN users u ON u.id = c.author_id WHERE c.merge_request_id = ? "
        "OR (? = 'open' AND c.project_id = ? AND c.branch = ? AND c.branch <> ?) "
        "ORDER BY c.created_at LIMIT 20",
        request["id"], request["state"], project.id, request["source_branch"], project.branch,
    )  # fmt: skip
    approvals = context.rows(
        "SELECT u.id, u.name, u.username FROM approvals x JOIN users u ON u.id = x.user_id "
        "WHERE x.merge_request_id = ? ORDER BY u.name",
        request["id"],
    )
    return of_project(
        context, project, "merge.html", 422 if error else 200, request=request, notes=notes,
        commits=commits, approvals=approvals,
        has_approved=any(row["id"] == project.user_id for row in approvals),
        may_edit=may_edit(project, request), text=text, error=error,
    )  # fmt: skip


def find_request(context: RequestContext, project: Project, iid: str) -> sqlite3.Row:
    """Return a merge request.

    Raises:
        NotFound: there is none of this number.
    """
    return numbered(context, f"{REQUEST} AND r.iid = ?", project, iid)


def may_edit(project: Project, request: sqlite3.Row) -> bool:
    """Return whether the visitor may edit and close a merge request."""
    is_author = project.is_open and request["author_id"] == project.user_id
    return is_author or project.allows("Developer")


def _filters(context: RequestContext) -> tuple[str, list[Any]]:
    where = ""
    values: list[Any] = []
    state = context.field("state") or "open"
    if state in ("open", "merged", "closed"):
        where, values = "AND r.state = ?", [state]
    for field in ("author", "assignee", "reviewer"):
        if number := context.number(field):
            where, values = f"{where} AND r.{field}_id = ?", [*values, number]
    if text := context.field("q"):
        where = f"{where} AND (r.title LIKE ? ESCAPE '\\' OR r.body LIKE ? ESCAPE '\\')"
        values = [*values, like(text), like(text)]
    return where, values


def _differences(
    context: RequestContext, project: Project, request: sqlite3.Row
) -> list[tuple[str, list[tuple[str, str]]]]:
    """List the changed files with their added and removed lines."""
    old = {
        row["path"]: row["content"] for row in files_of(context, project, request["target_branch"])
    }
    differences = []
    for row in files_of(context, project, request["source_branch"]):
        before = old.get(row["path"], "")
        if before == row["content"]:
            continue
        lines = difflib.unified_diff(before.splitlines(), row["content"].splitlines(), n=0)
        kinds = {"+": "added", "-": "removed"}
        changed = [(kinds[line[0]], line[1:]) for line in list(lines)[2:] if line[0] in kinds]
        differences.append((row["path"], changed[:60]))
    return differences
