"""Issues: the list with its filters, and one issue with its discussion."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    VISIBLE_ISSUE,
    Project,
    find_project,
    numbered,
    of_project,
    people_of,
    person_choices,
)
from agentgym_envs.sites.gitlab.reading import like
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 10
NONE = "none"  # in a filter: those that have none

STATES = (("open", "Open"), ("closed", "Closed"), ("all", "All"))
ORDERS = {
    "newest": ("Newest", "i.created_at DESC, i.id DESC"),
    "oldest": ("Oldest", "i.created_at, i.id"),
    "due": ("Due first", "i.due_on IS NULL, i.due_on, i.id"),
    "closed": ("Recently closed", "i.closed_at IS NULL, i.closed_at DESC, i.id"),
}

ISSUE = (
    "SELECT i.*, a.name AS author, a.username AS author_username, s.name AS assignee, "
    "s.username AS assignee_username, m.title AS milestone FROM issues i "
    "JOIN users a ON a.id = i.author_id LEFT JOIN users s ON s.id = i.assignee_id "
    "LEFT JOIN milestones m ON m.id = i.milestone_id WHERE i.project_id = ?"
)


@SITE.get("/~{owner}/{slug}/issues")
def issue_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the issues that the filters leave."""
    project = find_project(context, owner, slug)
    where, values = _filters(context, project)
    total = context.value(
        f"SELECT count(*) FROM issues i JOIN users a ON a.id = i.author_id WHERE i.project_id = ? "
        f"{where}",
        project.id,
        *values,
    )
    pages = Pages.of(context, total, PAGE_SIZE)
    order = ORDERS.get(context.field("sort"), ORDERS["newest"])[1]
    rows = context.rows(
        f"{ISSUE} {where} ORDER BY {order} LIMIT ? OFFSET ?",
        project.id, *values, pages.size, pages.offset,
    )  # fmt: skip
    labels = context.rows(
        "SELECT id, name FROM labels WHERE project_id = ? ORDER BY name", project.id
    )
    milestones = context.rows(
        "SELECT id, title FROM milestones WHERE project_id = ? ORDER BY title", project.id
    )
    return of_project(
        context, project, "issues.html", rows=rows, pages=pages, states=STATES,
        labels_of=_labels(context, rows),
        labels=[("", "Any label"), *((str(row["id"]), row["name"]) for row in labels)],
        milestones=[
            ("", "Any milestone"), (NONE, "No milestone"),
            *((str(row["id"]), row["title"]) for row in milestones),
        ],
        assignees=[
            ("", "Anybody"), (NONE, "Nobody"),
            *person_choices(people_of(context, project), "")[1:],
        ],
        orders=[(key, label) for key, (label, _) in ORDERS.items()],
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/issues/{iid}")
def show(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show an issue with its discussion."""
    project = find_project(context, owner, slug)
    issue = find_issue(context, project, iid)
    return issue_page(context, project, issue)


def issue_page(
    context: RequestContext,
    project: Project,
    issue: sqlite3.Row,
    *,
    text: str = "",
    error: str = "",
) -> Response:
    """Render an issue; `text` and `error` belong to its comment form."""
    pages = Pages.of(
        context, context.value("SELECT count(*) FROM notes WHERE issue_id = ?", issue["id"]), 20
    )
    notes = context.rows(
        "SELECT n.*, u.name AS author, u.username FROM notes n JOIN users u ON u.id = n.author_id "
        "WHERE n.issue_id = ? ORDER BY n.created_at, n.id LIMIT ? OFFSET ?",
        issue["id"], pages.size, pages.offset,
    )  # fmt: skip
    return of_project(
        context, project, "issue.html", 422 if error else 200, issue=issue, notes=notes,
        pages=pages, labels=_labels(context, [issue]).get(issue["id"], []),
        may_edit=may_edit(project, issue), text=text, error=error,
    )  # fmt: skip


def find_issue(context: RequestContext, project: Project, iid: str) -> sqlite3.Row:
    """Return an issue that the visitor may see.

    Raises:
        NotFound: there is none, or it is confidential.
    """
    sql = f"{ISSUE} AND i.iid = ? AND {VISIBLE_ISSUE}"
    return numbered(context, sql, project, iid, *project.issue_rights)


def may_edit(project: Project, issue: sqlite3.Row) -> bool:
    """Return whether the visitor may edit and close an issue."""
    is_author = project.is_open and issue["author_id"] == project.user_id
    return is_author or project.allows("Reporter")


def _filters(context: RequestContext, project: Project) -> tuple[str, list[Any]]:
    where = f"AND {VISIBLE_ISSUE}"
    values: list[Any] = [*project.issue_rights]
    state = context.field("state") or "open"
    if state in ("open", "closed"):
        where, values = f"{where} AND i.state = ?", [*values, state]
    for field, column in (("assignee", "i.assignee_id"), ("milestone", "i.milestone_id")):
        if context.field(field) == NONE:
            where = f"{where} AND {column} IS NULL"
        elif context.field(field):
            where, values = f"{where} AND {column} = ?", [*values, context.number(field)]
    if label := context.number("label"):
        where = (
            f"{where} AND EXISTS (SELECT 1 FROM issue_labels x WHERE x.issue_id = i.id "
            "AND x.label_id = ?)"
        )
        values = [*values, label]
    if author := context.field("author"):
        where = f"{where} AND (a.username = ? OR a.name = ? COLLATE NOCASE)"
        values = [*values, author.lower().removeprefix("@"), author]
    if text := context.field("q"):
        where = f"{where} AND (i.title LIKE ? ESCAPE '\\' OR i.body LIKE ? ESCAPE '\\')"
        values = [*values, like(text), like(text)]
    return where, values


def _labels(context: RequestContext, issues: list[sqlite3.Row]) -> dict[int, list[sqlite3.Row]]:
    """Return the labels of each issue, by its id."""
    marks = ", ".join("?" * len(issues))
    labels: dict[int, list[sqlite3.Row]] = {}
    for row in context.rows(
        "SELECT x.issue_id, l.* FROM issue_labels x JOIN labels l ON l.id = x.label_id "
        f"WHERE x.issue_id IN ({marks}) ORDER BY l.name",
        *(issue["id"] for issue in issues),
    ):
        labels.setdefault(row["issue_id"], []).append(row)
    return labels
